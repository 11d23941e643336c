// What the page knows of the run: all of it when it loads, then what is new, as server-sent events.

const kMostLoss = 2048;
const kMostSteps = 1024;
const kMostLog = 2000;
const kPause = 2000;  // milliseconds

const emptyStory = () => ({loss: [], steps: [], evaluations: [], tensors: [], lost: 0, begins: 0});

export const facts = {last: 0, status: null, story: emptyStory(), log: [], end: null};

/// Two points become one: the lowest, the mean, the highest. The newest of an odd count stays.
function halvedLoss(points) {
  const halved = [];
  for (let i = 0; i + 1 < points.length; i += 2) {
    const [a, b] = [points[i], points[i + 1]];
    halved.push([b[0], Math.min(a[1], b[1]), (a[2] + b[2]) / 2, Math.max(a[3], b[3]),
                 (a[4] + b[4]) / 2]);
  }
  if (points.length % 2 === 1) halved.push(points[points.length - 1]);
  return halved;
}

/// Every second, and the newest.
function thinned(steps) {
  return steps.filter((_, i) => i % 2 === 0 || i === steps.length - 1);
}

function addStory(news) {
  const story = facts.story;
  for (const part of ['loss', 'steps', 'evaluations', 'tensors']) {
    if (news[part]) story[part] = story[part].concat(news[part]);
  }
  if (news.lost !== undefined) story.lost = news.lost;
  if (news.begins !== undefined) story.begins = news.begins;
  if (story.loss.length > kMostLoss) story.loss = halvedLoss(story.loss);
  if (story.steps.length > kMostSteps) story.steps = thinned(story.steps);
}

function addLog(lines) {
  facts.log = facts.log.concat(lines);
  if (facts.log.length > kMostLog) facts.log = facts.log.slice(-kMostLog);
}

/// Calls changed(part) for each part that did, and notice(text) where the page does not follow.
export async function follow(changed, notice) {
  let answer = null;
  try {
    answer = await fetch('/facts');
  } catch {
    answer = null;
  }
  const later = () => setTimeout(() => follow(changed, notice), kPause);
  if (answer === null || !answer.ok) {
    notice(answer === null ? 'sterna does not answer.' : await answer.text());
    if (answer === null) later();
    return;
  }
  Object.assign(facts, await answer.json());
  for (const part of ['status', 'story', 'log', 'end']) changed(part);

  const stream = new EventSource(`/events?after=${facts.last}`);
  const on = (event, take) => stream.addEventListener(event, (told) => {
    take(JSON.parse(told.data));
    changed(event);
  });
  on('status', (status) => { facts.status = status; });
  on('story', addStory);
  on('log', addLog);
  on('end', (end) => { facts.end = end; });
  const again = () => {
    stream.close();
    follow(changed, notice);
  };
  stream.addEventListener('again', again);
  stream.onopen = () => notice('');
  stream.onerror = () => {
    if (facts.end !== null) {
      stream.close();
      notice('The run has ended and the program with it: this page changes no more.');
    } else if (stream.readyState === EventSource.CLOSED) {
      stream.close();
      notice('So many pages look at this run that this one has to wait: close another.');
      later();  // and where it was refused for another reason, that is said then
    } else {
      notice('sterna does not answer: it was killed, or the way to it is broken.');
    }
  };
}

/// What takes the program a while: asks until it is there.
export async function shelf(name) {
  for (let tries = 0; tries < 50; ++tries) {
    const answer = await fetch(`/shelf?name=${encodeURIComponent(name)}`);
    if (answer.status === 200) return answer.json();
    if (answer.status !== 202) return null;
    await new Promise((later) => { setTimeout(later, 300); });
  }
  return null;
}

/// Bytes or seconds at a step: between the steps that are known, in proportion; they are counted
/// from where the run begins, which of one that goes on from a checkpoint is not step 0.
export function atStep({steps, begins}, step, column) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle][0] < step) low = middle + 1;
    else high = middle;
  }
  if (low === steps.length) return steps.length === 0 ? null : steps[low - 1][column];
  const before = low === 0 ? [begins, 0, 0] : steps[low - 1];
  const after = steps[low];
  if (after[0] === before[0]) return after[column];
  if (step <= before[0]) return before[column];
  const part = (step - before[0]) / (after[0] - before[0]);
  return before[column] + part * (after[column] - before[column]);
}
