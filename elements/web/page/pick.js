// SPDX-License-Identifier: LGPL-2.1-or-later
// Clicks on objects of the picture, while nothing is drawn. With the focus on
// the picture, arrow keys choose an object and Enter clicks it.

import { addPainter, boxOutline, currentTool, placeOf, repaint } from './draw.js';

const pickers = []; // {handler, wants}, the newest first

let canvas, shownRecord, isVisible;
let pressed = null; // {object, record} under the pointer when it was pressed
let chosen = null; // the object that keys have chosen

// Calls handler(object, record) for a click on an object, the smallest one below
// the pointer; handlers that were added later first, until one returns true.
// wants() says whether the handler would use a click now.
export function onPick(handler, wants = () => true) {
  pickers.unshift({ handler, wants });
}

// Call once. record() returns the record that is shown, isVisible(object)
// whether an object is drawn.
export function preparePicks(onto, record, visible) {
  [canvas, shownRecord, isVisible] = [onto, record, visible];
  canvas.addEventListener('pointerdown', (event) => { pressed = find(event); });
  canvas.addEventListener('click', () => {
    if (isWanted() && pressed !== null) {
      pick(pressed.object, pressed.record);
    }
  });
  canvas.addEventListener('pointermove', (event) => {
    if (currentTool() === null) {
      canvas.style.cursor = find(event) !== null ? 'pointer' : '';
    }
  });
  canvas.addEventListener('keydown', chooseByKey);
  canvas.addEventListener('blur', () => choose(null));
  document.addEventListener('frame-shown', followChosen);
  document.addEventListener('controls-changed', updateFocus);
  document.addEventListener('drawing-changed', updateFocus);
  addPainter(() => chosen === null ? [] : boxOutline(
    { ...chosen, width: chosen.w, height: chosen.h }, 'dashed'));
}

function isWanted() {
  return currentTool() === null && pickers.some(({ wants }) => wants());
}

function pick(object, record) {
  pickers.some(({ handler, wants }) => wants() && handler(object, record));
}

function objects() {
  return (shownRecord()?.objects ?? []).filter(isVisible);
}

// Returns the smallest object at a place of the picture, or undefined.
export function objectAt({ x, y }) {
  return objects().filter((one) => x >= one.x && x < one.x + one.w
    && y >= one.y && y < one.y + one.h)
    .sort((a, b) => a.w * a.h - b.w * b.h)[0];
}

// Returns the object below the pointer, and its record, or null.
function find(event) {
  if (!isWanted() || !event.isPrimary || !shownRecord()?.resolution) {
    return null;
  }
  const object = objectAt(placeOf(event));
  return object ? { object, record: shownRecord() } : null;
}

// ---- keys ----

function updateFocus() {
  if (currentTool() === null && isWanted() !== (canvas.tabIndex === 0)) {
    canvas.tabIndex = isWanted() ? 0 : -1;
  }
}

function choose(object) {
  if (chosen !== object) {
    chosen = object;
    repaint();
  }
}

function chooseByKey({ key }) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!isWanted()) {
    return;
  }
  if (key === 'Enter' && chosen !== null) {
    pick(chosen, shownRecord());
  } else if (step) {
    const list = objects().sort((a, b) => a.x - b.x);
    const at = list.indexOf(chosen) + (chosen === null && step < 0 ? 0 : step);
    choose(list.at(at % list.length) ?? null);
  }
}

// The chosen object is the one with its id in the new frame, or the nearest one.
function followChosen() {
  if (chosen !== null) {
    const off = (one) => Math.hypot(one.x - chosen.x, one.y - chosen.y);
    const list = objects().sort((a, b) => off(a) - off(b));
    choose(list.find(({ id }) => id !== undefined && id === chosen.id)
      ?? list[0] ?? null);
  }
}
