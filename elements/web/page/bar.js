// SPDX-License-Identifier: LGPL-2.1-or-later
// The bar below the picture while something is drawn: what to do, the tool's
// buttons, Undo and Redo. It exists only while it is of use.

import { currentTool, endTool } from './draw.js';
import { create } from './editors.js';
import { canRedo, canUndo, redo, refusalOf, undo } from './history.js';
import { mayDraw } from './offer.js';

const readingTime = 10000; // ms that a note stays

const hint = create('p', { className: 'message' });
hint.setAttribute('role', 'status');
const buttons = create('div', { className: 'buttons' });
const bar = create('div', { id: 'drawing-bar' }, hint, buttons);
let actions = []; // those of the buttons
let note = null; // {text, state, tool}
let timer = 0;

// Says what has happened, until another tool begins. state: "bad" for a problem.
export function say(text, state = '') {
  clearTimeout(timer);
  note = { text, state, tool: currentTool() };
  timer = setTimeout(() => {
    note = null;
    update();
  }, readingTime);
  update();
}

function wanted() {
  const tool = currentTool();
  const list = [...tool?.actions?.() ?? []];
  if (canUndo() || canRedo() || tool?.undo) {
    list.push({ text: 'Undo', title: 'Ctrl+Z', run: undo, disabled: !canUndo() },
      { text: 'Redo', title: 'Ctrl+Shift+Z', run: redo, disabled: !canRedo() });
  }
  if (tool !== null) {
    list.push({ text: tool.ending ?? 'Done', title: 'Esc', run: endTool });
  }
  return list;
}

// Keeps the buttons if only their state differs: one may be pressed just now.
function updateButtons() {
  const before = actions;
  actions = wanted();
  if (actions.map(({ text }) => text).join() !== before.map(
    ({ text }) => text).join()) {
    const focused = before[[...buttons.children].indexOf(document.activeElement)];
    buttons.replaceChildren(...actions.map(({ text, title = '' }, i) => {
      const button = create('button', { type: 'button', textContent: text, title });
      button.addEventListener('click', () => actions[i].run());
      return button;
    }));
    if (focused !== undefined) { // from a button that is gone to the picture
      const at = actions.findIndex(({ text }) => text === focused.text);
      (buttons.children[at] ?? document.getElementById('canvas'))
        .focus({ preventScroll: true });
    }
  }
  actions.forEach(({ disabled }, i) => {
    buttons.children[i].disabled = Boolean(disabled);
  });
}

function message() {
  const tool = currentTool(), reason = refusalOf(tool?.control);
  return note?.tool === tool && note ? note
    : reason !== undefined ? { text: 'Not in force: ' + reason, state: 'bad' }
      : { text: tool?.hint?.() ?? '', state: '' };
}

function update() {
  const { text, state } = message();
  updateButtons();
  if (hint.textContent !== text) {
    hint.textContent = text;
  }
  hint.dataset.state = state;
  if (mayDraw() && (actions.length > 0 || text !== '')) {
    if (!bar.isConnected) {
      document.querySelector('.picture').append(bar);
    }
  } else {
    bar.remove();
  }
}

document.addEventListener('drawing-changed', update);
document.addEventListener('controls-changed', update);
