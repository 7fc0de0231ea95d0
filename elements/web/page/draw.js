// SPDX-License-Identifier: LGPL-2.1-or-later
// Lets the user draw a rectangle on the picture with mouse, pen or finger.
// Rectangles are in pixels of the frame, whatever the size of picture and page.

let canvas, redraw, frameSize;
let finish = null; // takes the rectangle, or null; not drawing if it is null
let corners = null; // of the rectangle that is being drawn, else null

// Call once: redraw() draws the picture again, frameSize() returns its frame's.
export function prepareDrawing(onto, again, size) {
  [canvas, redraw, frameSize] = [onto, again, size];
  canvas.addEventListener('pointerdown', begin);
  canvas.addEventListener('pointermove', move);
  canvas.addEventListener('pointerup', complete);
  canvas.addEventListener('pointercancel', () => end(null));
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && finish !== null) {
      end(null);
    }
  });
}

// Calls done with the next rectangle, {x, y, width, height}; with null if the
// user cancels, or another drawing begins.
export function drawBox(done) {
  end(null);
  finish = done;
  canvas.classList.add('drawing');
  canvas.scrollIntoView({ block: 'nearest' });
}

export function cancelDrawing() {
  end(null);
}

// Draws the rectangle; width: that of a line in pixels of the canvas.
export function paintDrawing(context, width) {
  if (corners === null) {
    return;
  }
  const { x, y, width: w, height: h } = box();
  const scale = canvas.width / frameSize().width;
  context.save();
  context.setLineDash([4 * width, 3 * width]);
  context.lineWidth = 2 * width;
  context.strokeStyle = '#fff';
  context.strokeRect(x * scale, y * scale, w * scale, h * scale);
  context.lineDashOffset = 3.5 * width;
  context.strokeStyle = '#000';
  context.strokeRect(x * scale, y * scale, w * scale, h * scale);
  context.restore();
}

// Returns a coordinate in the frame. The picture keeps its aspect ratio in the
// middle of the canvas.
function coordinate(at, start, size, pixels, scale, whole) {
  const inset = (size - pixels * scale) / 2;
  const value = (at - start - inset) / scale * whole / pixels;
  return Math.min(Math.max(Math.round(value), 0), whole);
}

function place({ clientX, clientY }) {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const scale = Math.min(width / canvas.width, height / canvas.height);
  const frame = frameSize();
  return {
    x: coordinate(clientX, left, width, canvas.width, scale, frame.width),
    y: coordinate(clientY, top, height, canvas.height, scale, frame.height) };
}

function box() {
  const [a, b] = corners;
  return { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y),
    width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) };
}

function begin(event) {
  if (finish !== null && event.isPrimary && frameSize()) {
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    corners = [place(event), place(event)];
  }
}

function move(event) {
  if (corners !== null && event.isPrimary) {
    corners[1] = place(event);
    redraw();
  }
}

// A click without a rectangle changes nothing.
function complete(event) {
  if (corners === null || !event.isPrimary) {
    return;
  }
  corners[1] = place(event);
  const drawn = box();
  if (drawn.width > 0 && drawn.height > 0) {
    end(drawn);
  } else {
    corners = null;
  }
}

function end(drawn) {
  const done = finish;
  finish = corners = null;
  canvas.classList.remove('drawing');
  redraw();
  done?.(drawn);
}
