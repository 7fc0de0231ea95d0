// SPDX-License-Identifier: LGPL-2.1-or-later
// Lets the user draw on the picture with mouse, pen, finger or keys. Points are
// {x, y} in pixels of the frame, whatever the size of picture and page.
//
// One tool at a time gets the pointer. Its members, all optional:
//   press(at), drag(at), release(at)  with a button or finger down
//   hover(at)             the pointer moves without it
//   drags                 a press is dragged: the space bar presses and releases
//   undo(), redo(), escape()  return true if they have done something
//   canUndo(), canRedo()
//   end()                 another tool begins, or the user is done
//   ending                the text of the button that ends it, "Done"
//   control               name of the control that is drawn for
//   key(name, event)      a key for the handle with this data-key; true if used
//   keyOnPicture(event)   another key on the picture itself; true if used
//   focus(name)           a handle has got the focus
//   chosen()              data-key of the handle that a press has chosen
//   cursor(at)            CSS cursor
//   hint()                text: what the user can do
//   actions()             buttons: [{text, run, disabled}]
// `at` is a point with `screen`, its place on the canvas, and `reach`, the
// distance there within which it hits something.

const svgName = 'http://www.w3.org/2000/svg';
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
  ArrowDown: [0, 1] };

let canvas, currentRecord, overlay;
let tool = null;
let pressed = false;
let painting = false;
let keyPoint = null; // the crosshair that arrow keys move
const painters = []; // {group, paint}

// Call once. record() returns the record of the frame that is shown.
export function prepareDrawing(onto, record) {
  [canvas, currentRecord] = [onto, record];
  overlay = svg('svg', { id: 'overlay' });
  canvas.after(overlay);
  canvas.addEventListener('pointerdown', press);
  canvas.addEventListener('pointermove', move);
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', cancel);
  canvas.addEventListener('keydown', moveByKey);
  canvas.addEventListener('mousedown', (event) => {
    if (tool !== null) {
      event.preventDefault(); // the focus stays where the tool has put it
    }
  });
  overlay.addEventListener('keydown', (event) => {
    if (tool?.key?.(event.target.dataset.key, event)) {
      event.preventDefault();
      repaint();
    }
  });
  overlay.addEventListener('focusin', (event) => {
    if (!painting) {
      tool?.focus?.(event.target.dataset.key);
    }
  });
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && tool !== null) {
      escapeTool();
    }
  });
  new ResizeObserver(repaint).observe(canvas);
  addPainter(paintKeyPoint);
  let size = '';
  document.addEventListener('frame-shown', ({ detail }) => {
    const now = [detail.resolution?.width, detail.resolution?.height,
      canvas.width, canvas.height].join();
    if (now !== size) {
      size = now;
      repaint();
    }
  });
}

export function frameSize() {
  return currentRecord()?.resolution;
}

// ---- tools ----

export function startTool(next) {
  endTool();
  tool = next;
  canvas.classList.add('drawing');
  canvas.tabIndex = 0;
  canvas.scrollIntoView({ block: 'nearest' });
  canvas.focus({ preventScroll: true });
  repaint();
}

export function endTool() {
  const old = tool;
  tool = keyPoint = null;
  pressed = false;
  if (old !== null) {
    canvas.classList.remove('drawing');
    canvas.style.cursor = '';
    canvas.tabIndex = -1;
    old.end?.();
    repaint();
  }
}

export function currentTool() {
  return tool;
}

function escapeTool() {
  pressed = false;
  if (tool.escape?.()) {
    repaint();
  } else {
    endTool();
  }
}

// Calls done with the next rectangle, {x, y, width, height}; with null if the
// user cancels, or another drawing begins. Calls begun when its first corner is
// set.
export function drawBox(done, control, begun) {
  let corners = null, drawn = null;
  startTool({
    control,
    ending: 'Cancel',
    drags: true,
    box: () => corners && boxOf(...corners),
    hint: () => 'Draw a rectangle; Esc cancels.',
    press(at) {
      corners = [at, at];
      begun?.();
    },
    drag(at) { corners[1] = at; },
    release(at) {
      const box = boxOf(corners[0], at);
      corners = null;
      if (box.width > 0 && box.height > 0) { // a click changes nothing
        drawn = box;
        endTool();
      }
    },
    end() { done(drawn); },
  });
}

// Returns the rectangle between two points, in whole pixels.
export function boxOf(a, b) {
  const [x1, y1, x2, y2] = [a.x, a.y, b.x, b.y].map(Math.round);
  return { x: Math.min(x1, x2), y: Math.min(y1, y2),
    width: Math.abs(x1 - x2), height: Math.abs(y1 - y2) };
}

// ---- coordinates ----

export function clamp(value, most) {
  return Math.min(Math.max(value, 0), most);
}

// Returns the picture's rectangle on the canvas, which it does not fill if their
// aspect ratios differ.
function pictureArea() {
  const { clientWidth, clientHeight } = canvas;
  const scale = Math.min(clientWidth / canvas.width, clientHeight / canvas.height);
  const width = canvas.width * scale, height = canvas.height * scale;
  return { width, height, left: (clientWidth - width) / 2,
    top: (clientHeight - height) / 2 };
}

export function toScreen({ x, y }) {
  const area = pictureArea(), frame = frameSize();
  return { x: area.left + x * area.width / frame.width,
    y: area.top + y * area.height / frame.height };
}

function toFrame(screen) {
  const area = pictureArea(), frame = frameSize();
  return {
    x: clamp((screen.x - area.left) * frame.width / area.width, frame.width),
    y: clamp((screen.y - area.top) * frame.height / area.height, frame.height) };
}

// Returns the distance on the screen.
export function distance(a, b) {
  const from = toScreen(a), to = toScreen(b);
  return Math.hypot(from.x - to.x, from.y - to.y);
}

export function placeOf({ clientX, clientY, pointerType }) {
  const { left, top } = canvas.getBoundingClientRect();
  const screen = { x: clientX - left, y: clientY - top };
  return { ...toFrame(screen), screen,
    reach: pointerType === 'touch' ? 22 : 12 };
}

// ---- pointer ----

function isForTool(event) {
  return tool !== null && event.isPrimary && event.button <= 0 && frameSize();
}

function press(event) {
  if (isForTool(event)) {
    keyPoint = null;
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true }); // a field that is edited ends first
    pressed = true;
    tool.press?.(placeOf(event));
    repaint();
    focusHandle(tool?.chosen?.());
  }
}

function move(event) {
  if (isForTool(event)) {
    const at = placeOf(event);
    tool[pressed ? 'drag' : 'hover']?.(at);
    canvas.style.cursor = tool.cursor?.(at) ?? '';
    repaint();
  }
}

function release(event) {
  if (isForTool(event) && pressed) {
    pressed = false;
    tool.release?.(placeOf(event));
    repaint();
    focusHandle(tool?.chosen?.());
  }
}

function cancel() {
  if (pressed) {
    escapeTool();
  }
}

// ---- keys ----

// Returns how far an arrow key moves a point, or null for another key.
export function stepOf({ key, shiftKey, ctrlKey, altKey, metaKey }) {
  if (!(key in arrows) || ctrlKey || altKey || metaKey) {
    return null;
  }
  const [x, y] = arrows[key].map((step) => step * (shiftKey ? 10 : 1));
  return { x, y };
}

function moveKeyPoint(step) {
  const frame = frameSize();
  const from = keyPoint ?? { x: Math.round(frame.width / 2),
    y: Math.round(frame.height / 2) };
  keyPoint = { x: clamp(from.x + step.x, frame.width),
    y: clamp(from.y + step.y, frame.height) };
}

function atKeyPoint() {
  return { ...keyPoint, screen: toScreen(keyPoint), reach: 12 };
}

function moveByKey(event) {
  const step = stepOf(event);
  if (tool?.keyOnPicture?.(event)) {
    event.preventDefault();
    repaint();
    return;
  }
  if (tool === null || !frameSize() || (step === null && event.key !== ' ')) {
    return;
  }
  event.preventDefault();
  moveKeyPoint(step ?? { x: 0, y: 0 });
  if (step !== null) {
    tool[pressed ? 'drag' : 'hover']?.(atKeyPoint());
  } else {
    pressByKey();
  }
  repaint();
}

function pressByKey() {
  if (!pressed) {
    tool.press?.(atKeyPoint());
  }
  pressed = !pressed;
  if (!pressed || !tool.drags) {
    pressed = false;
    tool.release?.(atKeyPoint());
  }
}

// ---- painting ----

export function svg(name, attributes, ...children) {
  const node = document.createElementNS(svgName, name);
  for (const [key, value] of Object.entries(attributes)) {
    node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

// paint() returns the SVG nodes to show on the picture, in pixels of the screen.
export function addPainter(paint) {
  const group = svg('g', {});
  overlay.append(group);
  painters.push({ group, paint });
}

// Draws everything again, and says so with the event "drawing-changed". A node
// with the focus passes it on to the one with the same data-key.
export function repaint() {
  const focused = overlay.contains(document.activeElement)
    ? document.activeElement.dataset.key : null;
  overlay.style.cssText = `left: ${canvas.offsetLeft}px;
    top: ${canvas.offsetTop}px; width: ${canvas.clientWidth}px;
    height: ${canvas.clientHeight}px`;
  for (const { group, paint } of painters) {
    group.replaceChildren(...frameSize() ? paint() : []);
  }
  painting = true;
  focusHandle(focused);
  painting = false;
  document.dispatchEvent(new CustomEvent('drawing-changed'));
}

function focusHandle(key) {
  if (key) {
    (overlay.querySelector(`[data-key="${key}"]`) ?? canvas)
      .focus({ preventScroll: true });
  }
}

// Returns a shape that can be seen on any picture: light on dark.
export function outline(name, attributes, kind = '') {
  return [svg(name, { ...attributes, class: 'halo ' + kind }),
    svg(name, { ...attributes, class: 'outline ' + kind })];
}

export function boxOutline({ x, y, width, height }, kind) {
  const a = toScreen({ x, y }), b = toScreen({ x: x + width, y: y + height });
  return outline('rect', { x: a.x, y: a.y, width: b.x - a.x, height: b.y - a.y },
    kind);
}

// Returns a handle that can have the focus. key: its data-key.
export function handle(point, key, label, chosen = false) {
  const { x, y } = toScreen(point);
  return svg('circle', { cx: x, cy: y, r: chosen ? 9 : 7, tabindex: 0,
    'data-key': key, class: chosen ? 'handle chosen' : 'handle',
    role: 'button', 'aria-label': label });
}

function paintKeyPoint() {
  const box = tool?.box?.();
  const nodes = box ? boxOutline(box, 'dashed') : [];
  if (keyPoint !== null) {
    const { x, y } = toScreen(keyPoint);
    nodes.push(...outline('path',
      { d: `M${x - 12} ${y}h24M${x} ${y - 12}v24` }));
  }
  return nodes;
}
