// SPDX-License-Identifier: LGPL-2.1-or-later
// Clicks on objects of the picture, while nothing is drawn. With the focus on
// the picture, arrow keys choose an object and Enter clicks it.

import { addPainter, boxOutline, currentTool, placeOf, repaint } from './draw.js';

let pick, wants; // as of onPick()
let canvas, shownRecord, isVisible;
let pressed = null; // object under the pointer when it was pressed
let chosen = null; // the object that keys have chosen

// Calls handler(object) for a click on an object, the smallest one below the
// pointer, while isUsed() returns true.
export function onPick(handler, isUsed) {
  [pick, wants] = [handler, isUsed];
}

// Call once. record() returns the record that is shown, isVisible(object)
// whether an object is drawn.
export function preparePicks(onto, record, visible) {
  [canvas, shownRecord, isVisible] = [onto, record, visible];
  canvas.addEventListener('pointerdown', (event) => { pressed = find(event); });
  canvas.addEventListener('click', () => {
    if (isWanted() && pressed !== null) {
      pick(pressed);
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
  return currentTool() === null && wants();
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

// Returns the object below the pointer, if a click on it is wanted, or null.
function find(event) {
  return isWanted() && event.isPrimary && shownRecord()?.resolution
    ? objectAt(placeOf(event)) ?? null : null;
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
    pick(chosen);
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
