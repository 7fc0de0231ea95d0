// SPDX-License-Identifier: LGPL-2.1-or-later
// Controls of elements in the pipeline, as the sink describes them. Each has one
// request on its way at most; what the user does meanwhile is sent after that,
// the newest value only.

import { create, editors, fields } from './editors.js';
import { canChange, isConnected, listen, request } from './remote.js';

const patience = 1000; // ms without an answer until the page says so

const list = document.getElementById('control-list');
const section = document.getElementById('controls');
const note = document.getElementById('control-note');

let described = ''; // what the rows were made from
const rows = new Map(); // by control, "detect.min-neighbors"
const warnings = new Map(); // by element: where its warnings are shown

// ---- rows ----

// Reasons repeat the value; a long one would hide the rest.
function shorten(reason, value) {
  return typeof value === 'string' && value.length > 60
    ? reason.replaceAll(`'${value}'`, () => '\'…\'') : reason;
}

// A control in the page: sends requests and shows what comes of them.
class Row {
  constructor(description) {
    this.description = description;
    this.waits = false; // for the answer to a request
    this.next = null; // request to send after that
    this.timer = 0;
    this.message = create('p', { className: 'message', role: 'status' });
    this.label = create('label', { textContent: description.name });
    this.node = create('div', { className: 'control' });
    this.buttons = create('div', { className: 'buttons' });
  }

  // Returns a promise of {value}; of {reason} if the request, or a newer one that
  // takes its place, is refused or the connection ends.
  send(message) {
    const older = this.next;
    const answer = new Promise((settle) => { this.next = { message, settle }; });
    older?.settle(answer);
    if (!this.waits) {
      this.sendNext();
    }
    return answer;
  }

  sendNext() {
    const { message, settle } = this.next;
    this.next = null;
    this.waits = true;
    this.timer = setTimeout(() => this.say(
      'bad', 'The element has not answered yet.'), patience);
    request({ ...message, control: this.description.control }).then(
      ({ value }) => {
        this.done(value);
        settle({ value });
      }, (error) => {
        error.message = shorten(error.message, message.value);
        this.refused(error);
        settle({ reason: error.message });
      });
  }

  say(state, text) {
    this.message.dataset.state = state;
    this.message.textContent = text;
  }

  answered(state, text) {
    clearTimeout(this.timer);
    this.waits = false;
    this.say(state, text);
    if (this.next !== null) {
      this.sendNext();
    }
  }

  // The value in force, or why it is not the one that was sent.
  done() {
    this.answered('', '');
  }

  // Nothing is sent again if the connection has ended.
  refused({ message, ended }) {
    if (ended) {
      this.next?.settle({ reason: message });
      this.next = null;
      this.answered('', '');
    } else {
      this.answered('bad', 'Refused: ' + message);
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
    this.buttons.append(this.reset);
    this.node.append(this.label, this.buttons, this.editor.node, this.message);
    this.setValue(description.value);
  }

  change(value) {
    return this.send({ type: 'set', value });
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

  answered(state, text) {
    super.answered(state, text);
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
    this.buttons.append(button);
    this.node.append(this.label, this.buttons, create('div',
      { className: 'arguments' }, ...inputs.map(({ node }) => node)),
    this.message);
  }

  call(values) {
    values.forEach((value, i) => this.inputs[i].show(value));
    return this.send({ type: 'call', arguments: values });
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
// description and value; change(value) of a property, call(values) of a signal,
// which return promises as send() does; the node, its buttons, and say() for its
// message.
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
