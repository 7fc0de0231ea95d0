// SPDX-License-Identifier: LGPL-2.1-or-later
// Editors of values, one for each type of control. Each has a node, and show()
// to set its value; it reports what the user chooses.

export function create(tag, properties, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// A field whose value counts when editing ends; Escape ends it without. While it
// is edited, it keeps the value that it is to show.
export function editField(input, read, write, changed) {
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

export const editors = { integer: numberEditor, number: numberEditor,
  boolean: booleanEditor, text: textEditor, choice: choiceEditor,
  flags: flagsEditor };
export const fields = { ...editors, integer: numberField, number: numberField };
