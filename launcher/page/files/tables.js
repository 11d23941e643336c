// The parts of the page that are tables and bars.
import {byId, bytes, element, fraction, number, scrolling, seconds, table} from './words.js';

/// How a run with this exit code has ended.
function wordOf(exit) {
  const words = {0: 'done', 75: 'goes on later', 130: 'interrupted'};
  return words[exit] ?? 'failed';
}

export function drawSummary(facts) {
  const status = facts.status;
  if (status === null) return;
  const name = status.config || 'sterna';
  byId('name').textContent = name;
  document.title = `${status.phase} · ${name} · sterna`;
  const phase = byId('phase');
  phase.textContent = status.phase;
  phase.dataset.phase = status.phase;
  const done = status.steps > 0 ? status.step / status.steps : 0;
  byId('progress').hidden = status.steps === 0;
  byId('progress').setAttribute('aria-valuenow', String(Math.floor(100 * done)));
  byId('progress-bar').style.width = `${100 * done}%`;

  const words = [];
  if (status.steps > 0) words.push(`step ${number(status.step)} of ${number(status.steps)}`);
  if (status.elapsed_seconds > 0) words.push(`${seconds(status.elapsed_seconds)} elapsed`);
  if (status.left_seconds !== null && status.phase === 'training') {
    words.push(`${seconds(status.left_seconds)} left`);
  }
  if (status.loss !== null) words.push(`loss ${number(status.loss)}`);
  if (status.precision_at_1 !== null) {
    words.push(`precision@1 ${fraction(status.precision_at_1)} at step ${number(status.precision_step)}`);
  }
  if (status.examples_per_second !== null) {
    words.push(`${number(Math.round(status.examples_per_second))} examples/s`);
  }
  if (status.data_wait !== null) {
    words.push(`${Math.round(100 * status.data_wait)} % of the time waits for data`);
  }
  if (facts.story.lost > 0) words.push(`${number(facts.story.lost)} facts were lost`);
  byId('summary').replaceChildren(...words.map((word) => element('span', word)));

  const cause = byId('cause');
  let text = status.cause || status.restart || status.actor_restart;
  if (facts.end !== null && facts.end.exit !== 0) text = status.cause || facts.end.words;
  if (facts.end !== null && facts.end.exit === 0) text = facts.end.words;
  cause.hidden = text === '';
  cause.dataset.end = facts.end === null ? '' : wordOf(facts.end.exit);
  if (cause.textContent !== text) cause.textContent = text;
}

export function drawActors(status) {
  const actors = status === null ? [] : status.actors;
  if (actors.length === 0) {
    byId('actors').replaceChildren(element('p', 'no actor is known yet', 'quiet'));
    return;
  }
  const titles = ['actor', 'state', 'role', 'pid', 'memory', 'queued', 'lag', 'in', 'out'];
  const head = element('tr', titles.map((title, i) => {
    const cell = element('th', title, i > 2 ? 'number' : '');
    cell.scope = 'col';
    return cell;
  }));
  const hosts = new Map();
  for (const actor of actors) {
    if (!hosts.has(actor.host)) hosts.set(actor.host, []);
    hosts.get(actor.host).push(actor);
  }
  const bodies = [...hosts].map(([host, members]) => {
    const sum = (field) => members.reduce((all, one) => all + one[field], 0);
    const title = element('th', host || 'this host', 'host');
    title.scope = 'rowgroup';
    title.colSpan = 4;
    const total = element('tr', [title,
      ...[bytes(sum('memory_bytes')), bytes(sum('queue_bytes')), '', bytes(sum('bytes_in')),
          bytes(sum('bytes_out'))].map((text) => element('td', text, 'number quiet'))]);
    return element('tbody', [total, ...members.flatMap(actorRows)]);
  });
  byId('actors').replaceChildren(
    scrolling(element('table', [element('thead', [head]), ...bodies])));
}

function actorRows(actor) {
  const state = element('td', actor.state, 'state');
  state.dataset.state = actor.state;
  const name = actor.incarnation > 1 ? `${actor.name}#${actor.incarnation}` : actor.name;
  const cells = [element('td', name), state, element('td', actor.role),
    ...[actor.pid > 0 ? String(actor.pid) : '', actor.memory_bytes > 0 ? bytes(actor.memory_bytes) : '',
        bytes(actor.queue_bytes), `${actor.loop_lag_ms.toFixed(1)} ms`, bytes(actor.bytes_in),
        bytes(actor.bytes_out)].map((text) => element('td', text, 'number'))];
  const rows = [element('tr', cells)];
  if (actor.cause) {
    const why = element('td', actor.cause, 'why');
    why.colSpan = cells.length;
    rows.push(element('tr', [why]));
  }
  return rows;
}

/// One bar of the width of `part`.
function bar(part, kind) {
  const inner = element('div', '', kind);
  inner.style.width = `${Math.max(100 * part, 0.3)}%`;
  return element('div', [inner], 'bar');
}

export function drawBytes(status) {
  const ways = status === null ? [] : [
    ['gradients, up', status.raw_bytes_up, status.coded_bytes_up, status.bits_up],
    ['parameters, down', status.raw_bytes_down, status.coded_bytes_down, status.bits_down],
  ].filter(([, raw, coded]) => raw > 0 && coded > 0);
  if (ways.length === 0) {
    byId('bytes').replaceChildren(element('p', 'nothing is known of this yet', 'quiet'));
    return;
  }
  const most = Math.max(...ways.flatMap(([, raw, coded]) => [raw, coded]));
  const picture = element('div', ways.flatMap(([name, raw, coded]) => [
    element('div', `${name}: ${bytes(raw)} as ${bytes(coded)}` +
      (raw > 1.005 * coded ? `, ${number(raw / coded, 3)} times less` : '')),
    bar(raw / most, 'raw'), bar(coded / most, 'coded')]), 'bars');
  const rows = ways.map(([name, raw, coded, bits]) =>
    [name, bytes(raw), bytes(coded), number(raw / coded, 3), number(bits, 3)]);
  picture.setAttribute('aria-hidden', 'true');
  byId('bytes').replaceChildren(picture,
    table(['', 'before', 'after', 'ratio', 'bits an element'], rows, (i) => i > 0));
}

export function drawTensors(story) {
  const tensors = story.tensors;
  if (tensors.length === 0) {
    byId('tensors').replaceChildren(
      element('p', 'what each tensor came to is told when the run is done', 'quiet'));
    return;
  }
  const cost = (one) => one.elements * ((one.bits_up ?? 0) + (one.bits_down ?? 0));
  const most = Math.max(...tensors.map(cost), 1);
  const milliseconds = (value) => (value === null ? '' : `${number(1000 * value, 3)} ms`);
  const rows = tensors.map((one) => [one.tensor, one.codec, number(one.elements),
    number(one.bits_up, 3), number(one.bits_down, 3), number(one.ratio, 3), fraction(one.nonzero),
    fraction(one.saturated), milliseconds(one.encode_seconds), milliseconds(one.decode_seconds),
    milliseconds(one.exchange_seconds)]);
  const picture = element('div', tensors.flatMap((one) => [
    element('div', `${one.tensor}: ${bytes(Math.round(cost(one) / 8))} a step and rank, both ways`),
    bar(cost(one) / most, 'coded')]), 'bars');
  picture.setAttribute('aria-hidden', 'true');
  byId('tensors').replaceChildren(picture, table(['tensor', 'codec', 'elements', 'bits up',
    'bits down', 'ratio', 'not 0', 'saturated', 'encode', 'decode', 'exchange'], rows,
  (i) => i > 1));
}

/// The lines that the filter lets through, the last 300.
export function drawLog(log) {
  const actors = byId('log-actor');
  const known = new Set([...actors.options].map((option) => option.value));
  for (const [actor] of log) {
    if (known.has(actor)) continue;
    known.add(actor);
    const option = element('option', actor);
    option.value = actor;
    actors.append(option);
  }
  const wanted = byId('log-filter').value.toLowerCase();
  const chosen = log.filter(([actor, line]) => (actors.value === '' || actor === actors.value) &&
    (wanted === '' || line.toLowerCase().includes(wanted) || actor.toLowerCase().includes(wanted)));
  const most = 300;
  const box = byId('log');
  const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 8;
  box.replaceChildren(...chosen.slice(-most).map(([actor, line]) =>
    element('div', [element('span', actor, 'actor'), element('span', line)])));
  if (atEnd) box.scrollTop = box.scrollHeight;
  const shown = Math.min(chosen.length, most);
  byId('log-count').textContent = `${number(shown)} of ${number(log.length)} lines`;
}

/// `chosen` is the set of directories that are compared; toggled(directory) changes it.
export function drawRuns(runs, chosen, toggled) {
  const titles = ['compare', 'run', 'precision@1', 'steps', 'time', 'bytes', 'codec'];
  const rows = runs.map((run) => {
    const box = element('input');
    box.type = 'checkbox';
    box.disabled = run.own;
    box.checked = run.own || chosen.has(run.directory);
    box.setAttribute('aria-label', `compare with ${run.name}`);
    box.addEventListener('change', () => toggled(run));
    const result = run.result ?? {};
    const ways = [result.bytes_up, result.bytes_down];
    const sent = ways.every(Number.isFinite) ? ways[0] + ways[1] : null;
    const name = element('td', run.own ? `${run.name} (this one)` : run.name, 'name');
    if (result.cause) name.title = result.cause;
    const end = Number.isFinite(result.exit) ? wordOf(result.exit) : 'done';
    if (end !== 'done') name.append(element('span', ` ${end}`, end === 'failed' ? 'bad' : 'quiet'));
    return element('tr', [element('td', [box]), name,
      ...[fraction(result.precision_at_1), number(result.steps), seconds(result.seconds), bytes(sent),
          result.codec ?? ''].map((text, i) => element('td', text, i < 4 ? 'number' : ''))]);
  });
  const head = element('tr', titles.map((title, i) => {
    const cell = element('th', title, i > 1 && i < 6 ? 'number' : '');
    cell.scope = 'col';
    return cell;
  }));
  byId('runs').replaceChildren(
    scrolling(element('table', [element('thead', [head]), element('tbody', rows)])));
}
