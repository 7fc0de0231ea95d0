// SPDX-License-Identifier: LGPL-2.1-or-later
// The panel Teach: boxes that the user draws, and those of a tracker that
// follows the object, become examples; false boxes become counterexamples. The
// sink keeps them, and trains a detector. docs/visionwebsink.md has the messages.

import { say as sayBelow } from './bar.js';
import { findControls } from './controls.js';
import { currentTool, drawBox, endTool, startTool } from './draw.js';
import { Look, Part } from './match.js';
import { objectAt } from './pick.js';
import { canChange, listen, request } from './remote.js';
import { nameTracks } from './scene.js';

const keepInterval = 400; // ms between two pictures that are kept by themselves
const keepAtMost = 60; // pictures of a label that are kept by themselves
const lookInterval = 100; // ms between two looks at what is followed
const trustFor = 1000; // ms for which a look that found the object is enough
const lostAfter = 3000; // ms without a box until an object is not followed
const surroundings = 0.5; // of a false box, on each side, in parts of its size

const $ = (id) => document.getElementById(id);

let page = null; // functions of page.js
let state = null; // message "teach"
let training = null; // message "training"
let drawn = { frame: null, boxes: [] }; // boxes drawn on one frame
const followed = new Map(); // by track id: {look, box, seen: when it was found, in ms}
let looked = 0; // when at all, in ms
let kept = 0; // when a picture was kept by itself last
let keeping = false; // a request to keep one is on its way

function label() {
  return $('teach-label').value.trim();
}

function countOf(name) {
  return state?.labels.find((each) => each.label === name);
}

// While false boxes are marked, the user looks at the picture.
function say(text, isBad = false) {
  const tone = isBad ? 'bad' : '';
  $('teach-note').textContent = text;
  $('teach-note').dataset.state = tone;
  if (currentTool() === notThis && text !== '') {
    sayBelow(text, tone);
  }
}

// Sends a request; says why if it is refused. Returns the value of its answer,
// true if that has none; undefined if it was refused.
async function ask(message) {
  try {
    return (await request(message)).value ?? true;
  } catch (error) {
    say(error.message, true);
    return undefined;
  }
}

function keep(example) {
  return ask({ type: 'keep', example: { label: label(), ...example } });
}

// ---- boxes ----

function press(button, on) {
  button.setAttribute('aria-pressed', on);
}

// The picture stands still while a box is drawn on it.
function draw() {
  if ($('teach-draw').getAttribute('aria-pressed') === 'true') {
    endTool();
    return;
  }
  drawBox((box) => {
    press($('teach-draw'), false);
    page.freeze(false);
    if (box !== null) {
      addBox(box);
    }
  }, undefined, () => {
    page.freeze(true);
    holdFrame(page.record());
  });
  press($('teach-draw'), true);
  say('Draw a box around the object; Esc cancels.');
}

// Other objects that are followed are objects on this frame, too.
async function addBox({ x, y, width, height }) {
  const record = page.record(), box = [x, y, width, height];
  const others = boxesLately(record)
    .filter((other) => common(box, other) < 0.3 * width * height);
  if (drawn.frame !== record.frame_num) {
    drawn = { frame: record.frame_num, boxes: [] };
  }
  drawn.boxes.push(box);
  say('');
  if ($('teach-follow').checked && !page.isPaused() && signal('set-target')) {
    followFrom(page.picture(), { x, y, width, height });
  }
  if (await keep({ frame: record.frame_num,
    boxes: [...drawn.boxes, ...others] }) === undefined) {
    drawn.boxes = drawn.boxes.filter((each) => each !== box);
  }
}

// Returns the area that two rectangles have in common.
function common(a, b) {
  const [width, height] = [0, 1].map((i) =>
    Math.min(a[i] + a[i + 2], b[i] + b[i + 2]) - Math.max(a[i], b[i]));
  return Math.max(width, 0) * Math.max(height, 0);
}

// ---- what is followed ----

function signal(name) {
  return findControls((one) => one.name === name && one.type === 'signal')[0]
    ?.description.control;
}

// Returns pixels of the picture that is shown per pixel of the frame, whose pixels
// may be oblong.
function scales() {
  const picture = page.picture(), { width, height } = page.record().resolution;
  return { across: picture.width / width, down: picture.height / height };
}

// Returns a rectangle in pixels of the picture that is shown.
function inPicture([x, y, width, height]) {
  const { across, down } = scales();
  return { x: x * across, y: y * down, width: width * across, height: height * down };
}

// The object has moved while the box was drawn: the tracker gets the box where
// the next picture shows it.
function followFrom(picture, { x, y, width, height }) {
  const box = inPicture([x, y, width, height]);
  const part = new Part(picture, box), look = new Look(picture, box);
  document.addEventListener('frame-shown', () => {
    const found = part.find(page.picture()), { across, down } = scales();
    follow([found.x / across, found.y / down, width, height].map(Math.round), look);
  }, { once: true });
}

// Returns the id of the new target, or why there is none.
async function setTarget(box) {
  try {
    const { value } = await request(
      { type: 'call', control: signal('set-target'), arguments: box });
    return value > 0 ? { id: value }
      : { reason: 'The tracker follows other objects: clear its targets.' };
  } catch ({ message }) {
    return { reason: message };
  }
}

// If the tracker has no place for the box, targets that were lost may take it.
async function follow(box, look) {
  let { id, reason } = await setTarget(box);
  if (!id && followed.size === 0 && signal('clear-target')) {
    await ask({ type: 'call', control: signal('clear-target'), arguments: [] });
    ({ id, reason } = await setTarget(box));
  }
  if (id) {
    followed.set(id, { look, box, seen: performance.now() });
    say(`Following it. Up to ${keepAtMost} pictures are kept.`);
  } else {
    say(reason, true);
  }
}

function rectangleOf({ x, y, w, h }) {
  return [x, y, w, h];
}

// Returns the boxes of objects that were seen in them a moment ago: those of the
// frame or, if the tracker has not analysed it, the last ones.
function boxesLately(record) {
  const boxes = new Map((record.objects ?? []).map((each) => [each.id, rectangleOf(each)]));
  return [...followed].filter(([, { seen }]) => looked - seen < trustFor)
    .map(([id, { box }]) => boxes.get(id) ?? box);
}

// Looks for what is followed: a tracker may stay on the background when the object
// has left its box. Returns the objects, or null unless all of them are there: one
// without a box would be learnt as background.
function lookFor(record) {
  const now = performance.now();
  const pause = now - looked > trustFor ? now - looked : 0; // no frame was shown
  looked = now;
  const found = (record.objects ?? []).filter((object) => followed.get(object.id)
    ?.look.isIn(page.picture(), inPicture(rectangleOf(object))));
  for (const one of followed.values()) {
    one.seen = Math.min(one.seen + pause, now);
  }
  for (const object of found) {
    Object.assign(followed.get(object.id), { seen: now, box: rectangleOf(object) });
  }
  for (const [id, { seen }] of followed) {
    if (now - seen > lostAfter) {
      followed.delete(id);
      say('It was lost: draw a box again.');
    }
  }
  return found.length > 0 && found.length === followed.size ? found : null;
}

async function keepFollowed(record) {
  if (performance.now() - looked < lookInterval) {
    return;
  }
  const found = lookFor(record);
  const enough = (countOf(label())?.pictures ?? 0) >= keepAtMost;
  if (found === null || keeping || enough || !$('teach-follow').checked
      || performance.now() - kept < keepInterval) {
    return;
  }
  kept = performance.now();
  keeping = true;
  await keep({ frame: record.frame_num, boxes: found.map(rectangleOf) });
  keeping = false;
}

// ---- counterexamples ----

// A tool of draw.js: a press marks a false box.
const notThis = {
  hint: () => 'Click on boxes that are wrong.',
  cursor: (at) => objectAt(at) ? 'pointer' : 'not-allowed',
  press(at) {
    const object = objectAt(at);
    if (object) {
      keepFalse(object, page.record());
    } else {
      say('No box there: click inside a box that is wrong.', true);
    }
  },
  end() {
    press($('teach-not'), false);
    say('');
  },
};

function endMarking() {
  if (currentTool() === notThis) {
    endTool();
  }
}

function mark() {
  if (currentTool() === notThis) {
    endTool();
  } else {
    startTool(notThis);
    press($('teach-not'), true);
    say(notThis.hint());
  }
}

// Keeps a false box with its surroundings.
function keepFalse({ x, y, w, h, id }, record) {
  followed.delete(id); // the tracker has left the object
  const part = [x - surroundings * w, y - surroundings * h,
    (1 + 2 * surroundings) * w, (1 + 2 * surroundings) * h];
  const boxes = boxesLately(record)
    .filter((box) => common(box, part) > 0.2 * box[2] * box[3]);
  keep({ frame: record.frame_num, boxes, part }).then((n) => {
    if (n !== undefined) {
      say('Kept as a counterexample.');
    }
  });
}

// ---- training ----

// What is followed is kept no longer: it may be what was wrong.
async function forget() {
  const name = label();
  if (await ask({ type: 'forget', label: name }) !== undefined) {
    drawn = { frame: null, boxes: [] };
    followed.clear();
    endMarking();
    say(`The last picture for ${name} is removed. Draw a box to go on.`);
  }
}

async function train() {
  say('');
  await ask({ type: 'train', label: label() });
}

async function use() {
  const name = label();
  if (await ask({ type: 'use', label: name }) !== undefined) {
    say(`${state.detector} uses ${name}.xml now.`);
  }
}

function percent(value) {
  return Math.round(100 * value) + ' %';
}

const outcomes = {
  running: ({ text, seconds }) => `${text || 'Starting'} (${Math.round(seconds)} s)`,
  stopped: () => 'Training was stopped.',
  failed: ({ reason }) => 'Training failed: ' + reason,
  done: ({ recall, false_positives: mistakes, seconds }) =>
    `Trained in ${Math.round(seconds)} s. In pictures that were kept out, it `
    + `finds ${percent(recall)} and makes ${mistakes.toFixed(2)} mistakes per `
    + 'picture.',
};

function showTraining(message) {
  training = message;
  $('teach-outcome').textContent = outcomes[message.state](message);
  $('teach-outcome').dataset.state = message.state === 'failed' ? 'bad' : '';
  show();
}

// ---- the panel ----

function summary() {
  const { pictures = 0, boxes = 0 } = countOf(label()) ?? {};
  const wrong = state.counterexamples;
  return `${pictures} ${pictures === 1 ? 'picture' : 'pictures'} with `
    + `${boxes} ${boxes === 1 ? 'box' : 'boxes'}`
    + (wrong === 1 ? ', 1 counterexample'
      : wrong > 0 ? `, ${wrong} counterexamples` : '');
}

function show() {
  $('teach').hidden = state === null || !canChange();
  if ($('teach').hidden) {
    return;
  }
  const isRunning = training?.state === 'running';
  const count = countOf(label());
  $('teach-count').textContent = summary();
  $('teach-train').disabled = isRunning || !(count?.pictures > 0);
  $('teach-stop').hidden = !isRunning;
  $('teach-undo').disabled = !(count?.pictures > 0 || state.counterexamples > 0);
  $('teach-report').hidden = state.report === null
    || (training !== null && training.state !== 'done'); // it is of an earlier one
  $('teach-report').href = state.report;
  $('teach-use').hidden = state.detector === null || !count?.model;
  $('teach-labels').replaceChildren(
    ...state.labels.map((each) => new Option(each.label)));
}

// A page that has just been opened goes on with the folder's only label.
listen('teach', (message) => {
  if (state === null && message.labels.length === 1) {
    $('teach-label').value = message.labels[0].label;
  }
  state = message;
  show();
});
listen('training', showTraining);
listen('state', ({ exists }) => {
  if (!exists || !canChange()) {
    followed.clear();
    endMarking();
  }
  show();
});

// functions: freeze(on) keeps the picture as it is; picture(), record() return
// what is shown; isPaused().
export function prepareTeaching(functions) {
  page = functions;
  $('teach-draw').addEventListener('click', draw);
  $('teach-not').addEventListener('click', mark);
  $('teach-undo').addEventListener('click', forget);
  $('teach-label').addEventListener('input', () => {
    followed.clear();
    drawn = { frame: null, boxes: [] };
    show();
  });
  $('teach-train').addEventListener('click', train);
  $('teach-stop').addEventListener('click', () => ask({ type: 'stop' }));
  $('teach-use').addEventListener('click', use);
  document.addEventListener('frame-shown', ({ detail }) => {
    if (state !== null && canChange()) {
      keepFollowed(detail);
    }
  });
  nameTracks((id) => followed.has(id) ? label() : '');
}

// Keeps the frame that a paused page shows available.
export function holdFrame(record) {
  if (state !== null && canChange()) {
    ask({ type: 'hold', frame: record.frame_num });
  }
}
