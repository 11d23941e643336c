// One run in a browser: what it says as it says it, and what the user wants to see of that.
import {Chart, accuracies, accuracyCurves, trainingCurves, trainings, xs} from './charts.js';
import {facts, follow, shelf} from './facts.js';
import {drawActors, drawBytes, drawLog, drawRuns, drawSummary, drawTensors} from './tables.js';
import {byId, element} from './words.js';

const charts = {accuracy: new Chart(byId('accuracy')), training: new Chart(byId('training'))};
const compared = new Map();  // by directory: {name, story}
const selects = {x: xs, 'accuracy-y': accuracies, 'training-y': trainings};
const dirty = new Set();
const draw = {
  status: () => {
    drawSummary(facts);
    drawActors(facts.status);
    drawBytes(facts.status);
  },
  story: () => {
    drawCharts();
    drawTensors(facts.story);
  },
  log: () => drawLog(facts.log),
  end: () => drawSummary(facts),
};

function changed(part) {
  if (dirty.size === 0) requestAnimationFrame(drawWhatChanged);
  dirty.add(part);
}

function drawWhatChanged() {
  const parts = [...dirty];
  dirty.clear();
  for (const part of parts) draw[part]();
}

function notice(text) {
  byId('notice').textContent = text;
  byId('notice').hidden = text === '';
}

function drawCharts() {
  const chosen = (id) => selects[id][byId(id).selectedIndex];
  const runs = [{name: compared.size === 0 ? '' : 'this run', story: facts.story},
                ...compared.values()];
  const x = chosen('x');
  const log = {x: byId('x-log').checked, y: byId('y-log').checked};
  const accuracy = chosen('accuracy-y');
  charts.accuracy.draw(runs.flatMap(({name, story}) => accuracyCurves(name, story, x, accuracy)), x,
                       accuracy, {x: log.x, y: false});
  const training = chosen('training-y');
  charts.training.draw(runs.flatMap(({name, story}) => trainingCurves(name, story, x, training)), x,
                       training, log);
}

async function compare(run) {
  if (compared.delete(run.directory)) {
    changed('story');
    return;
  }
  const story = await shelf(`run ${run.directory}`);
  if (story !== null) compared.set(run.directory, {name: run.name, story});
  changed('story');
}

async function listRuns() {
  const runs = await shelf('runs');
  if (runs !== null) drawRuns(runs, compared, compare);
}

const themes = ['auto', 'light', 'dark'];

function setTheme(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  byId('theme').textContent = `◐ ${theme}`;
  localStorage.setItem('sterna-theme', theme);
  changed('story');
}

function nextTheme() {
  const now = localStorage.getItem('sterna-theme') ?? 'auto';
  setTheme(themes[(themes.indexOf(now) + 1) % themes.length]);
}

function next(id) {
  const select = byId(id);
  select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
  changed('story');
}

function toggle(id) {
  byId(id).checked = !byId(id).checked;
  changed('story');
}

const keys = {
  x: () => next('x'),
  a: () => next('accuracy-y'),
  y: () => next('training-y'),
  l: () => toggle('y-log'),
  t: nextTheme,
  '/': () => byId('log-filter').focus(),
  '?': () => byId('keys').showModal(),
};

document.addEventListener('keydown', (event) => {
  const typing = event.target.matches('input[type=search], select');
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  keys[event.key]();
  event.preventDefault();
});

for (const [id, options] of Object.entries(selects)) {
  byId(id).append(...options.map((option) => element('option', option.name)));
  byId(id).addEventListener('change', () => changed('story'));
}
for (const id of ['x-log', 'y-log']) byId(id).addEventListener('change', () => changed('story'));
for (const id of ['log-actor', 'log-filter']) byId(id).addEventListener('input', () => changed('log'));
byId('theme').addEventListener('click', nextTheme);
byId('keys-button').addEventListener('click', () => byId('keys').showModal());
byId('file').addEventListener('toggle', async () => {
  if (byId('file').open) byId('file-text').textContent = await shelf('resolved') ?? 'there is none';
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => changed('story'));

setTheme(localStorage.getItem('sterna-theme') ?? 'auto');
follow(changed, notice);
listRuns();
setInterval(() => { if (!document.hidden && facts.end === null) listRuns(); }, 10000);
