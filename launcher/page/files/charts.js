// The pictures (dygraphs, MIT): each with what stands at its cursor above it and a table under it.
/* global Dygraph */
import {atStep} from './facts.js';
import {bytes, element, fraction, number, seconds, table} from './words.js';

export const xs = [
  {name: 'steps', text: (x) => number(Math.round(x)), of: (step) => step},
  {name: 'seconds', text: seconds, of: (step, story) => atStep(story, step, 1)},
  {name: 'bytes', text: bytes, of: (step, story) => atStep(story, step, 2)},
];
export const accuracies = [
  {name: 'precision@1', field: 'precision_at_1', text: fraction},
  {name: 'recall@5', field: 'recall_at_5', text: fraction},
  {name: 'cross-entropy', field: 'loss', text: number},
];
// Of the story's loss points or of a column of its steps.
export const trainings = [
  {name: 'loss (weight decay included)', band: true, text: number},
  {name: 'loss without weight decay', band: true, less: true, text: number},
  {name: 'examples a second', column: 4, text: number},
  {name: 'learning rate', column: 3, text: number},
  {name: 'bits an element, up', column: 5, text: number},
  {name: 'bits an element, down', column: 6, text: number},
  {name: 'trits that are not 0', column: 7, text: fraction},
  {name: 'trits larger than the scaler', column: 8, text: fraction},
  {name: 'part of the time that waits for data', column: 9, text: fraction},
];

/// On how many examples most evaluations were, of as many on the fewest; by subset and kind.
function usualExamples(evaluations) {
  const counts = new Map();
  for (const one of evaluations) {
    const whose = one.subset + one.of;
    if (!counts.has(whose)) counts.set(whose, new Map());
    const of = counts.get(whose);
    of.set(one.examples, (of.get(one.examples) || 0) + 1);
  }
  const most = (of) => [...of].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0][0];
  return new Map([...counts].map(([whose, of]) => [whose, most(of)]));
}

/// {name, points: [[x, low, y, high]…]} of one run, for each subset and kind of values; what was on
/// another number of examples, as the last, which is on all, is no point of the same curve.
export function accuracyCurves(run, story, x, y) {
  const usual = usualExamples(story.evaluations);
  const curves = new Map();
  for (const one of story.evaluations) {
    if (one[y.field] === null || one[y.field] === undefined) continue;
    const what = [one.subset === 'test' ? '' : one.subset,
                  one.of === 'parameters' ? '' : one.of].filter(Boolean).join(', ');
    const on = one.examples === usual.get(one.subset + one.of) ? '' : `on ${number(one.examples)} examples`;
    const name = [run, what, on].filter(Boolean).join(' · ') || y.name;
    if (!curves.has(name)) curves.set(name, {name, points: []});
    const at = x.name === 'steps' ? one.step : one[x.name];
    const value = one[y.field];
    curves.get(name).points.push([at, value, value, value]);
  }
  return [...curves.values()];
}

export function trainingCurves(run, story, x, y) {
  const points = y.band
    ? story.loss.map(([step, low, mean, high, decay]) => {
      const less = y.less ? decay : 0;
      return [x.of(step, story), low - less, mean - less, high - less];
    })
    : story.steps.filter((step) => step[y.column] !== null)
      .map((step) => [x.of(step[0], story), step[y.column], step[y.column], step[y.column]]);
  return points.length === 0 ? [] : [{name: run || y.name, points}];
}

/// Its legend styles itself by attributes, which the page's policy forbids; ours stands above.
Dygraph.PLUGINS = Dygraph.PLUGINS.filter((one) => one !== Dygraph.Plugins.Legend);

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/// What is shown of the axis around a single point, which has no extent of its own.
function aroundPoint(x, logarithmic) {
  if (logarithmic) return [x / 2, 2 * x];
  return x > 0 ? [0, 2 * x] : [x - 1, x + 1];
}

export class Chart {
  constructor(figure, key) {
    this.figure = figure;
    this.key = key;
    this.legend = element('div', '', 'legend');
    this.box = element('div', '', 'plot');
    this.box.tabIndex = 0;
    this.box.setAttribute('role', 'img');
    this.none = element('p', 'nothing is known of this yet', 'quiet none');
    this.body = element('div');
    this.details = element('details', [element('summary', 'as a table'), this.body]);
    this.details.addEventListener('toggle', () => this.drawTable());
    figure.append(this.legend, this.box, this.none, this.details);
    this.box.addEventListener('keydown', (event) => this.onKey(event));
    this.box.addEventListener('blur', () => this.select(null));
    new ResizeObserver(() => this.resize()).observe(figure);
    this.row = null;
    this.graph = null;
  }

  draw(curves, x, y, scales) {
    Object.assign(this, {curves, x, y});
    const empty = curves.length === 0;
    this.box.hidden = empty;
    this.none.hidden = !empty;
    this.details.hidden = empty;
    if (empty) {
      this.legend.replaceChildren();
      return;
    }
    this.rows = this.merged();
    if (this.row !== null && this.row >= this.rows.length) this.row = null;
    const labels = ['x', ...curves.map((_, i) => `curve ${i}`)];
    const ink = style('--quiet');
    const options = {
      file: this.rows, labels, customBars: true, legend: 'never', connectSeparatedPoints: true,
      colors: curves.map((_, i) => style(`--curve-${i % 8}`)), strokeWidth: 2, fillAlpha: 0.18,
      drawPoints: this.rows.length <= 60, pointSize: 2.5, highlightCircleSize: 4, rightGap: 8, xRangePad: 6,
      axisLineColor: ink, gridLineColor: style('--line'), logscale: scales.y,
      axes: {
        x: {axisLabelFormatter: (value) => this.x.text(value), logscale: scales.x, pixelsPerLabel: 80},
        y: {axisLabelFormatter: (value) => String(Number(value.toPrecision(3))), axisLabelWidth: 52},
      },
      highlightCallback: (_, __, ___, row) => { this.row = row; this.drawLegend(); },
      unhighlightCallback: () => { this.row = null; this.drawLegend(); },
    };
    const alone = this.rows.length === 1;
    if (alone) options.dateWindow = aroundPoint(this.rows[0][0], scales.x);
    const scale = `${x.name} ${y.name} ${scales.x} ${curves.length} ${alone}`;
    if (this.graph !== null && this.scale === scale) {
      this.graph.updateOptions(options);
    } else {  // another axis: what was zoomed into is not on it
      if (this.graph !== null) this.graph.destroy();
      const model = {...Dygraph.defaultInteractionModel};
      for (const touch of ['touchstart', 'touchmove', 'touchend']) delete model[touch];
      this.graph = new Dygraph(this.box, this.rows, {...options, interactionModel: model});
    }
    this.scale = scale;
    this.drawLegend();
    this.drawTable();
  }

  /// A row for each x that any curve has.
  merged() {
    const at = new Map();
    this.curves.forEach((curve, i) => {
      for (const [x, low, y, high] of curve.points) {
        if (x === null) continue;
        if (!at.has(x)) at.set(x, [x, ...this.curves.map(() => null)]);
        at.get(x)[i + 1] = [low, y, high];
      }
    });
    return [...at.values()].sort((a, b) => a[0] - b[0]);
  }

  /// The values at the cursor, else the last.
  drawLegend() {
    let last = 0;
    const entries = this.curves.map((curve, i) => {
      let row = this.row === null ? this.rows.length - 1 : this.row;
      while (row > 0 && this.rows[row][i + 1] === null) --row;
      const value = this.rows[row][i + 1];
      last = Math.max(last, this.rows[row][0]);
      const mark = element('span', '', 'mark');
      mark.style.background = style(`--curve-${i % 8}`);
      const shown = value === null ? '' : this.y.text(value[1]);
      return element('span', [mark, element('span', curve.name, 'curve'), element('b', shown)]);
    });
    const where = this.row === null ? last : this.rows[this.row][0];
    entries.push(element('span', `at ${this.x.text(where)}${this.x.name === 'steps' ? ' steps' : ''}`,
                         'quiet'));
    this.legend.replaceChildren(...entries);
    this.box.setAttribute('aria-label', `${this.y.name} against ${this.x.name}: ` +
      entries.map((entry) => entry.textContent).join(', '));
  }

  drawTable() {
    if (!this.details.open || !this.rows) return;
    const most = 40;
    const every = Math.max(1, Math.ceil(this.rows.length / most));
    const shown = this.rows.filter((_, i) => i % every === 0 || i === this.rows.length - 1);
    const band = this.curves.length === 1 && this.rows.some((row) => row[1] && row[1][0] !== row[1][2]);
    const titles = [this.x.name, ...this.curves.map((curve) => curve.name)];
    if (band) titles.push('lowest', 'highest');
    this.body.replaceChildren(table(titles, shown.map((row) => {
      const cells = [this.x.text(row[0]), ...row.slice(1).map((v) => (v ? this.y.text(v[1]) : ''))];
      if (band) cells.push(this.y.text(row[1][0]), this.y.text(row[1][2]));
      return cells;
    })));
  }

  select(row) {
    if (this.graph === null) return;
    if (row === null) {
      this.graph.clearSelection();
    } else {
      this.graph.setSelection(row);
      this.box.setAttribute('aria-live', 'polite');
    }
    this.row = row;
    this.drawLegend();
  }

  onKey(event) {
    const move = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (event.key === 'Escape') {
      this.graph.resetZoom();
      this.select(null);
    } else if (move !== undefined) {
      const from = this.row === null ? this.rows.length - (move > 0 ? 1 : 0) : this.row;
      const to = from + move * (event.shiftKey ? 10 : 1);
      this.select(Math.min(Math.max(to, 0), this.rows.length - 1));
      event.preventDefault();
    }
  }

  resize() {
    if (this.graph !== null && !this.box.hidden && this.box.clientWidth > 0) this.graph.resize();
  }
}
