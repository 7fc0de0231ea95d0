// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds a part of a picture again in a later one, where it may have moved, and
// tells whether a box still shows the same object. Both work in pictures that are
// made so small that this takes some milliseconds.

const side = 20; // pixels of the part's longer side
const reach = 2; // how far it may have moved, in its longer sides

// Copies a rectangle of a picture at a scale: {data, width, height}, RGBA.
function sample(picture, x, y, width, height, scale) {
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  const canvas = new OffscreenCanvas(Math.max(w, 1), Math.max(h, 1));
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.drawImage(picture, x, y, width, height, 0, 0, canvas.width, canvas.height);
  return context.getImageData(0, 0, canvas.width, canvas.height);
}

// Returns the sum of differences at a place; any larger number if it is above
// the limit.
function difference(part, area, left, top, limit) {
  let sum = 0;
  for (let y = 0; y < part.height && sum < limit; y++) {
    let at = 4 * y * part.width, other = 4 * ((top + y) * area.width + left);
    for (let x = 0; x < part.width; x++, at += 4, other += 4) {
      sum += Math.abs(part.data[at] - area.data[other])
        + Math.abs(part.data[at + 1] - area.data[other + 1])
        + Math.abs(part.data[at + 2] - area.data[other + 2]);
    }
  }
  return sum;
}

// A box {x, y, width, height} of a picture, to be found in later ones of the
// same size: at the place with the least sum of absolute differences. Coordinates
// are pixels of the picture.
export class Part {
  constructor(picture, box) {
    this.box = box;
    this.scale = Math.min(side / Math.max(box.width, box.height), 1);
    this.pixels = sample(picture, box.x, box.y, box.width, box.height, this.scale);
  }

  // Returns the box where the picture resembles the part most.
  find(picture) {
    const { box, pixels, scale } = this;
    const far = reach * Math.max(box.width, box.height);
    const x = Math.max(box.x - far, 0), y = Math.max(box.y - far, 0);
    const area = sample(picture, x, y,
      Math.min(box.x + box.width + far, picture.width) - x,
      Math.min(box.y + box.height + far, picture.height) - y, scale);
    let best = { sum: Infinity };
    for (let top = 0; top + pixels.height <= area.height; top++) {
      for (let left = 0; left + pixels.width <= area.width; left++) {
        const sum = difference(pixels, area, left, top, best.sum);
        if (sum < best.sum) {
          best = { sum, left, top };
        }
      }
    }
    return best.sum === Infinity ? box
      : { ...box, x: x + best.left / scale, y: y + best.top / scale };
  }
}

const levels = 4; // of a colour, in a histogram
const leastInside = 0.25; // part of a place that the picture must show
const leastLikeness = 0.25;
const leastAlone = 0.5; // the least likeness if the picture shows no place beside
const leastLead = 0.1; // over each place beside

// Returns the histogram of the colours in a square of an image, or null if the
// image shows too little of it. A pixel counts less the farther it is from the
// centre: corners show what is behind the object.
function histogramOf({ data, width }, left, top) {
  const counts = new Float32Array(levels ** 3);
  let sum = 0, all = 0;
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const [dx, dy] = [x, y].map((place) => (2 * place + 1) / side - 1);
      const weight = Math.max(1 - dx * dx - dy * dy, 0);
      const at = 4 * ((top + y) * width + left + x);
      all += weight;
      if (data[at + 3] === 255) { // in the picture
        const [r, g, b] = [0, 1, 2].map((i) => data[at + i] * levels >> 8);
        counts[(r * levels + g) * levels + b] += weight;
        sum += weight;
      }
    }
  }
  return sum < leastInside * all ? null : counts.map((count) => count / sum);
}

// Returns the histograms of a box and of the places beside it.
function histogramsAround(picture, { x, y, width, height }) {
  const canvas = new OffscreenCanvas(3 * side, 3 * side);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.drawImage(picture, x - width, y - height, 3 * width, 3 * height,
    0, 0, canvas.width, canvas.height);
  const image = context.getImageData(0, 0, canvas.width, canvas.height);
  return [[1, 1], [0, 1], [2, 1], [1, 0], [1, 2]].map(([right, down]) =>
    histogramOf(image, right * side, down * side));
}

// The colours of a box {x, y, width, height} in pixels of its picture. Another box
// shows the same object if both histograms have enough in common, and more than
// the places beside the other box have with the first. Histogram intersection:
// M. Swain, D. Ballard, Color Indexing, 1991.
export class Look {
  constructor(picture, box) {
    [this.histogram] = histogramsAround(picture, box);
  }

  // Whether the object is still in the box.
  isIn(picture, box) {
    const [inside, ...beside] = histogramsAround(picture, box).map((other) =>
      other && this.histogram?.reduce(
        (sum, count, i) => sum + Math.min(count, other[i]), 0));
    const places = beside.filter((likeness) => likeness !== null);
    return inside >= (places.length > 0 ? leastLikeness : leastAlone)
      && places.every((likeness) => inside >= likeness + leastLead);
  }
}
