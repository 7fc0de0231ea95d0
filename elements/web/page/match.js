// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds a part of a picture again in a later one, where it may have moved: the
// place with the least sum of absolute differences, in pictures that are made so
// small that this takes some milliseconds.

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
// same size. Coordinates are pixels of the picture.
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
