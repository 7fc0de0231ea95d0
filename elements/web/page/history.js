// SPDX-License-Identifier: LGPL-2.1-or-later
// What is drawn, as texts of controls, and taking it back. A refused text stays
// drawn until the user mends it; a value that somebody else sets replaces it.

import { findControls } from './controls.js';
import { currentTool, repaint } from './draw.js';

const drawn = new Map(); // texts by control, if not the value in force
const refusals = new Map(); // reasons by control, of what is drawn
const inForce = new Map(); // values by control, as seen last
let changes = []; // {control, before, after}, the newest last
let undone = [];

export function rowOf(control) {
  return findControls((description) => description.control === control)[0];
}

// Returns the text that is drawn for a control.
export function drawnText(control) {
  return drawn.get(control) ?? rowOf(control)?.value ?? '';
}

// Returns why what is drawn is not in force, or undefined.
export function refusalOf(control) {
  return refusals.get(control);
}

// merge: consecutive changes with the same one are taken back together.
export function changeText(control, text, merge = null) {
  const before = drawnText(control), last = changes.at(-1);
  if (text !== before) {
    if (merge !== null && last?.control === control && last.merge === merge
        && undone.length === 0) {
      last.after = text;
    } else {
      changes.push({ control, before, after: text, merge });
    }
    undone = [];
    send(control, text);
  }
}

async function send(control, text) {
  drawn.set(control, text);
  repaint();
  const { reason } = await rowOf(control)?.change(text) ?? {};
  if (reason === undefined) {
    refusals.delete(control);
  } else {
    refusals.set(control, reason);
  }
  look(control);
  repaint();
}

// Looks whether the value in force has changed.
function look(control) {
  const row = rowOf(control);
  if (row === undefined || row.waits) {
    return;
  }
  const value = row.value ?? '';
  if (value !== inForce.get(control) || value === drawn.get(control)) {
    inForce.set(control, value);
    drawn.delete(control);
    refusals.delete(control);
    forgetUnless(control, value);
  }
}

// Changes cannot be taken back after somebody else's.
function forgetUnless(control, value) {
  const all = [...changes, ...undone].filter((one) => one.control === control);
  if (!all.some(({ before, after }) => value === before || value === after)) {
    const isOther = (one) => one.control !== control;
    changes = changes.filter(isOther);
    undone = undone.filter(isOther);
  }
}

export function canUndo() {
  return changes.length > 0 || Boolean(currentTool()?.canUndo?.());
}

export function canRedo() {
  return undone.length > 0 || Boolean(currentTool()?.canRedo?.());
}

export function undo() {
  if (!currentTool()?.undo?.() && changes.length > 0) {
    const change = changes.pop();
    undone.push(change);
    send(change.control, change.before);
  }
  repaint();
}

export function redo() {
  if (!currentTool()?.redo?.() && undone.length > 0) {
    const change = undone.pop();
    changes.push(change);
    send(change.control, change.after);
  }
  repaint();
}

document.addEventListener('controls-changed', () => {
  for (const { description } of findControls(({ type }) => type === 'text')) {
    look(description.control);
  }
});

addEventListener('keydown', (event) => {
  const types = event.target.matches?.('textarea, [type=text], [type=number]');
  if (!(event.ctrlKey || event.metaKey) || types || event.altKey
      || event.key.toLowerCase() !== 'z') {
    return;
  }
  if (event.shiftKey ? canRedo() : canUndo()) {
    event.preventDefault();
    (event.shiftKey ? redo : undo)();
  }
});
