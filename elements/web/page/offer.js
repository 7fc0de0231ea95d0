// SPDX-License-Identifier: LGPL-2.1-or-later
// Buttons "Draw" beside controls, for users who may change them.

import { findControls } from './controls.js';
import { currentTool, endTool } from './draw.js';
import { create } from './editors.js';
import { canChange, isConnected } from './remote.js';

const offers = []; // {test, title, start, buttons: by row}

// Adds a button to controls whose description passes the test. title(description)
// says what it draws; start(row) starts a tool with `control`.
export function offerTool(test, title, start) {
  offers.push({ test, title, start, buttons: new Map() });
}

// Whether something can be drawn; while the connection is lost, as before.
let allowed = false;
export function mayDraw() {
  return allowed;
}

function isActive({ description }) {
  return currentTool() !== null
    && currentTool().control === description.control;
}

function makeButton({ title, start }, row) {
  const button = create('button', { type: 'button', textContent: 'Draw' });
  button.setAttribute('aria-label', title(row.description));
  button.addEventListener('click', () =>
    isActive(row) ? endTool() : start(row));
  row.buttons.prepend(button);
  return button;
}

function isOnPicture(node) {
  return node === document.body || node.closest('.picture') !== null;
}

// When the user is done with a tool, the focus goes from the picture to its button.
function update() {
  for (const { buttons } of offers) {
    for (const [row, button] of buttons) {
      const before = button.getAttribute('aria-pressed') === 'true';
      button.setAttribute('aria-pressed', isActive(row));
      if (before && currentTool() === null
          && isOnPicture(document.activeElement)) {
        button.focus({ preventScroll: true });
      }
    }
  }
}

document.addEventListener('controls-changed', () => {
  allowed = canChange() || (allowed && !isConnected());
  const controls = new Set();
  for (const offer of offers) {
    const rows = allowed ? findControls(offer.test) : [];
    for (const [row, button] of offer.buttons) {
      if (!rows.includes(row)) {
        button.remove();
        offer.buttons.delete(row);
      }
    }
    for (const row of rows) {
      controls.add(row.description.control);
      if (!offer.buttons.has(row)) {
        offer.buttons.set(row, makeButton(offer, row));
      }
    }
  }
  const { control } = currentTool() ?? {};
  if (control && !controls.has(control)) {
    endTool();
  }
  update();
});
document.addEventListener('drawing-changed', update);
