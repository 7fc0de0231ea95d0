// SPDX-License-Identifier: LGPL-2.1-or-later
// Controls of elements in the pipeline, as the sink describes them. Each has one
// request on its way at most; what the user does meanwhile is sent after that,
// the newest value only.

import { cancelDrawing, drawBox } from './draw.js';
import { canChange, isConnected, listen, request } from './remote.js';

const patience = 1000; // ms without an answer until the page says so

const list = document.getElementById('control-list');
const section = document.getElementById('controls');
const note = document.getElementById('control-note');

let described = ''; // what the rows were made from
const rows = new Map(); // by control, "detect.min-neighbors"
const warnings = new Map(); // by element: where its warnings are shown

// ---- editors: a node and show(value) ----

function create(tag, properties, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// A field whose value counts when editing ends; Escape ends it without. While it
// is edited, it keeps the value that it is to show.
function editField(input, read, write, changed) {
  let edited = false, shown;
  input.addEventListener('input', () => { edited = true; });
  input.addEventListener('change', () => {
    edited = false;
    changed(read());
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && edited) {
      edited = false;
      write(shown);
      event.stopPropagation();
    }
  });
  return { node: input, input, read, show: (value) => {
    shown = value;
    if (!edited) {
      write(value);
    }
  } };
}

function numberField({ type, minimum, maximum }, changed) {
  const input = create('input', { type: 'number', min: minimum, max: maximum,
    step: type === 'integer' ? 1 : 'any' });
  return editField(input, () => input.valueAsNumber,
    (value) => { input.value = value; }, changed);
}

// The slider of a large range reaches to four times the default.
function sliderRange({ minimum, maximum, default: usual }) {
  if (minimum >= -1000 && maximum <= 1000) {
    return { min: minimum, max: maximum };
  }
  const reach = 4 * Math.abs(usual) || 10;
  return { min: Math.max(minimum, -reach), max: Math.min(maximum, reach) };
}

function numberEditor(description, changed) {
  const field = numberField(description, changed);
  const isWhole = description.type === 'integer';
  const slider = create('input', { type: 'range',
    ...sliderRange(description), step: isWhole ? 1 : 'any' });
  slider.addEventListener('input', () => {
    const value = isWhole ? slider.valueAsNumber
      : Number(slider.valueAsNumber.toPrecision(4));
    field.show(value);
    changed(value);
  });
  return { node: create('div', { className: 'number' }, slider, field.node),
    input: slider, also: field.input, show: (value) => {
      slider.value = value;
      field.show(value);
    } };
}

function booleanEditor(description, changed) {
  const input = create('input', { type: 'checkbox' });
  input.addEventListener('change', () => changed(input.checked));
  return { node: input, input, read: () => input.checked,
    show: (value) => { input.checked = value; } };
}

function textEditor(description, changed) {
  const input = create('textarea', { rows: 1, spellcheck: false });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      input.blur();
      input.focus();
    }
  });
  return editField(input, () => input.value,
    (value) => { input.value = value ?? ''; }, changed);
}

function choiceEditor({ choices }, changed) {
  const input = create('select', {}, ...choices.map(({ nick, text }) =>
    create('option', { value: nick, textContent: nick, title: text })));
  input.addEventListener('change', () => changed(input.value));
  return { node: input, input, show: (value) => { input.value = value; } };
}

function flagsEditor({ name, choices }, changed) {
  const boxes = choices.map(({ nick }) =>
    create('input', { type: 'checkbox', value: nick }));
  const node = create('div', { className: 'flags', role: 'group' },
    ...choices.map(({ nick, text }, i) =>
      create('label', { title: text }, boxes[i], nick)));
  node.setAttribute('aria-label', name);
  node.addEventListener('change', () => changed(
    boxes.filter((box) => box.checked).map((box) => box.value)));
  return { node, show: (value) => {
    for (const box of boxes) {
      box.checked = value.includes(box.value);
    }
  } };
}

const editors = { integer: numberEditor, number: numberEditor,
  boolean: booleanEditor, text: textEditor, choice: choiceEditor,
  flags: flagsEditor };
const fields = { ...editors, integer: numberField, number: numberField };

// ---- rows ----

// A control in the page: sends requests and shows what comes of them.
class Row {
  constructor(description) {
    this.description = description;
    this.waits = false; // for the answer to a request
    this.next = null; // request to send after that
    this.watchers = []; // called with each answer: the reason, or ''
    this.timer = 0;
    this.message = create('p', { className: 'message', role: 'status' });
    this.label = create('label', { textContent: description.name });
    this.node = create('div', { className: 'control' });
  }

  send(message) {
    if (this.waits) {
      this.next = message;
      return;
    }
    this.waits = true;
    this.timer = setTimeout(() => this.say(
      'bad', 'The element has not answered yet.'), patience);
    request({ ...message, control: this.description.control }).then(
      ({ value }) => this.done(value), (error) => this.refused(error));
  }

  say(state, text) {
    this.message.dataset.state = state;
    this.message.textContent = text;
  }

  answered(state, text, reason = '') {
    clearTimeout(this.timer);
    this.waits = false;
    this.say(state, text);
    if (this.next !== null) {
      const message = this.next;
      this.next = null;
      this.send(message);
      return;
    }
    for (const watcher of this.watchers.splice(0)) {
      watcher(reason);
    }
  }

  // The value in force, or why it is not the one that was sent.
  done() {
    this.answered('', '');
  }

  // Nothing is sent again if the connection has ended.
  refused({ message, ended }) {
    if (ended) {
      this.next = null;
      this.answered('', '', message);
    } else {
      this.answered('bad', 'Refused: ' + message, message);
    }
  }

  setValue() {}
}

class PropertyRow extends Row {
  constructor(description) {
    super(description);
    this.editor = editors[description.type](
      description, (value) => this.change(value));
    this.reset = create('button', { type: 'button', className: 'reset',
      textContent: '↺', title: `Default: ${description.default ?? 'none'}` });
    this.reset.setAttribute('aria-label',
      `Reset ${description.name} to ${description.default ?? 'nothing'}`);
    this.reset.addEventListener(
      'click', () => this.change(description.default ?? ''));
    for (const node of [this.label, this.editor.node]) {
      node.title = description.blurb ?? '';
    }
    this.name(description);
    this.node.classList.toggle('inline', description.type === 'boolean');
    this.node.append(this.label, this.reset, this.editor.node, this.message);
    this.setValue(description.value);
  }

  change(value) {
    this.send({ type: 'set', value });
  }

  // Sends a value, and returns a promise of the reason why it, or a newer one,
  // was refused; '' if it was not.
  set(value) {
    return new Promise((resolve) => {
      this.watchers.push(resolve);
      this.change(value);
    });
  }

  name({ control, name }) {
    if (this.editor.input) {
      this.label.htmlFor = this.editor.input.id = 'control ' + control;
    }
    this.editor.also?.setAttribute('aria-label', name);
  }

  setValue(value) {
    this.value = value;
    if (!this.waits) {
      this.show();
    }
  }

  show() {
    if (this.value !== undefined) {
      this.editor.show(this.value);
    }
    this.reset.disabled = JSON.stringify(this.value ?? null)
      === JSON.stringify(this.description.default ?? null);
  }

  answered(state, text, reason) {
    super.answered(state, text, reason);
    if (!this.waits) {
      this.show();
    }
  }
}

class SignalRow extends Row {
  constructor(description) {
    super(description);
    const inputs = this.inputs = description.arguments.map((argument, i) => {
      const field = fields[argument.type](argument, () => {});
      field.input.setAttribute('aria-label',
        `${description.name}: argument ${i + 1}`);
      return field;
    });
    const button = create('button', { type: 'button', textContent: 'Call' });
    button.setAttribute('aria-label', 'Call ' + description.name);
    button.addEventListener('click', () =>
      this.call(this.inputs.map((input) => input.read())));
    this.node.append(this.label, create('div', { className: 'buttons' },
      ...this.drawButtons(), button), create('div',
      { className: 'arguments' }, ...inputs.map(({ node }) => node)),
    this.message);
  }

  call(values) {
    this.send({ type: 'call', arguments: values });
  }

  // Four whole numbers can be x, y, width and height of a rectangle.
  drawButtons() {
    const types = this.description.arguments.map(({ type }) => type).join();
    if (types !== 'integer,integer,integer,integer') {
      return [];
    }
    const button = create('button', { type: 'button', textContent: 'Draw' });
    button.setAttribute('aria-label', `Draw the box of ${this.description.name}`);
    button.setAttribute('aria-pressed', false);
    button.addEventListener('click', () => this.draw(button));
    return [button];
  }

  draw(button) {
    if (button.getAttribute('aria-pressed') === 'true') {
      cancelDrawing();
      return;
    }
    drawBox((box) => {
      button.setAttribute('aria-pressed', false);
      this.message.textContent = '';
      if (box !== null) {
        const values = [box.x, box.y, box.width, box.height];
        values.forEach((value, i) => this.inputs[i].show(value));
        this.call(values);
      }
    });
    button.setAttribute('aria-pressed', true);
    this.message.dataset.state = '';
    this.message.textContent = 'Draw a rectangle on the picture; Esc cancels.';
  }

  done(value) {
    this.answered('', value === undefined ? 'Called.' : `Returned ${value}.`);
  }
}

class MissingRow extends Row {
  constructor(description) {
    super(description);
    this.message.textContent = 'This element is not in the pipeline now.';
    this.node.append(this.label, this.message);
  }
}

const kinds = { signal: SignalRow, missing: MissingRow };

// ---- the list ----

function addGroup(element, descriptions) {
  const group = create('fieldset', {}, create('legend', {
    textContent: element, title: descriptions[0].factory ?? '' }));
  const warning = create('p', { className: 'message', role: 'status' });
  warning.dataset.state = 'bad';
  warnings.set(element, warning);
  for (const description of descriptions) {
    const row = new (kinds[description.type] ?? PropertyRow)(description);
    rows.set(description.control, row);
    group.append(row.node);
  }
  group.append(warning);
  list.append(group);
}

function build(controls) {
  const groups = new Map();
  for (const row of rows.values()) {
    clearTimeout(row.timer);
  }
  rows.clear();
  warnings.clear();
  list.replaceChildren();
  for (const control of controls) {
    groups.set(control.element,
      [...groups.get(control.element) ?? [], control]);
  }
  for (const [element, descriptions] of groups) {
    addGroup(element, descriptions);
  }
}

// Keeps the rows if only values differ: the user may be editing one.
function describe(controls) {
  const text = JSON.stringify(
    controls.map((control) => ({ ...control, value: null })));
  if (text !== described) {
    described = text;
    build(controls);
  } else {
    for (const { control, value } of controls) {
      rows.get(control).setValue(value);
    }
  }
  section.hidden = controls.length === 0;
  enable();
}

// Returns the rows of controls whose description passes the test: their
// description and value; change(value) and set(value) of a property, call(values)
// of a signal.
// The event "controls-changed" of the document says that they, or their values,
// may have changed.
export function findControls(test) {
  return [...rows.values()].filter(({ description }) => test(description));
}

function enable() {
  for (const group of list.querySelectorAll('fieldset')) {
    group.disabled = !canChange();
  }
  note.textContent = !isConnected() ? 'Not connected.'
    : canChange() ? '' : 'Your token allows looking only.';
  document.dispatchEvent(new CustomEvent('controls-changed'));
}

listen('state', ({ exists }) => {
  section.hidden = !exists || rows.size === 0;
  enable();
});
listen('controls', ({ controls }) => describe(controls));
listen('values', ({ values }) => {
  for (const [control, value] of Object.entries(values)) {
    rows.get(control)?.setValue(value);
  }
  document.dispatchEvent(new CustomEvent('controls-changed'));
});
listen('warning', ({ element, text }) => {
  const warning = warnings.get(element);
  if (warning) {
    warning.textContent = text;
  }
});
