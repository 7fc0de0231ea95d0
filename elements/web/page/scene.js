// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws a record on the picture of its frame.

// The colors of visionoverlay, so that both show an object in the same color.
const palette = ['#e6194b', '#3cb44b', '#ffe119', '#4363d8', '#f58231',
  '#911eb4', '#42d4f4', '#f032e6', '#bfef45', '#fabed4', '#469990', '#9a6324'];
const trailLength = 40;

// Computes g_str_hash() of the text in UTF-8.
function hash(text) {
  let h = 5381;
  for (const byte of new TextEncoder().encode(text)) {
    h = (Math.imul(h, 33) + (byte << 24 >> 24)) >>> 0;
  }
  return h;
}

export function colorOf(label, track) {
  const n = track === undefined ? hash(label) : track;
  return palette[n % palette.length];
}

// Calls name(id) for the label of a track; '' leaves that of the record.
let nameOfTrack = () => '';
export function nameTracks(name) {
  nameOfTrack = name;
}

export function labelOf(object) {
  return nameOfTrack(object.id) || (object.roi_type ?? object.detection?.label ?? '');
}

// Returns the tables of a record that are drawn: [{key, shape, rows, width,
// height}].
export function tablesOf(record) {
  const found = [];
  for (const [name, info] of Object.entries(record)) {
    const key = name.replace(/_info$/, '');
    if (name !== key && info !== null && Array.isArray(record[key])
        && (info.shape === 'segments' || info.shape === 'points')) {
      found.push({ key, shape: info.shape, rows: record[key],
        width: info.width ?? record.resolution?.width,
        height: info.height ?? record.resolution?.height });
    }
  }
  return found;
}

function textOf(object, layers) {
  const parts = [];
  if (layers.labels) {
    parts.push(labelOf(object));
    if (object.classification) {
      parts.push(object.classification.label);
    }
  }
  if (layers.ids && object.id !== undefined) {
    parts.push('#' + object.id);
  }
  const confidence = object.detection?.confidence;
  if (layers.confidences && typeof confidence === 'number') {
    parts.push(Math.round(confidence * 100) + '%');
  }
  return parts.filter((part) => part).join(' ');
}

function isDark(color) {
  const n = parseInt(color.slice(1), 16);
  return 0.299 * (n >> 16) + 0.587 * (n >> 8 & 255) + 0.114 * (n & 255) <= 140;
}

export class Scene {
  #trails = new Map(); // id: {color, points, seen}

  // scale: canvas pixels per screen pixel
  draw(context, picture, record, layers, hidden, scale) {
    const canvas = context.canvas;
    const size = record.resolution ?? picture;
    this.sx = canvas.width / size.width;
    this.sy = canvas.height / size.height;
    this.line = Math.max(1, Math.round(2 * scale));
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    context.lineWidth = this.line;
    context.lineJoin = 'round';
    for (const table of layers.tables ? tablesOf(record) : []) {
      if (!hidden.has('table ' + table.key)) {
        this.#table(context, table);
        if (layers.labels) {
          this.#captions(context, table, scale);
        }
      }
    }
    const objects = (record.objects ?? []).filter(
      (object) => !hidden.has('label ' + labelOf(object)));
    this.#follow(objects, record.frame_num);
    if (layers.trails) {
      this.#drawTrails(context);
    }
    for (const object of layers.boxes ? objects : []) {
      this.#box(context, object);
    }
    for (const object of objects) {
      const top = object.y * this.sy;
      this.#text(context, textOf(object, layers), colorOf(labelOf(object), object.id),
        object.x * this.sx, top, top + this.line, scale);
    }
  }

  // Draws the box inside the object's pixels, as visionoverlay does.
  #box(context, object) {
    const half = this.line / 2;
    context.strokeStyle = colorOf(labelOf(object), object.id);
    context.strokeRect(object.x * this.sx + half, object.y * this.sy + half,
      object.w * this.sx - this.line, object.h * this.sy - this.line);
  }

  // Writes text on a filled rectangle whose lower edge is at y. If that does not fit into the
  // picture, its upper edge is at `inside`.
  #text(context, text, color, x, y, inside, scale) {
    if (text === '') {
      return;
    }
    const height = Math.max(10, Math.round(14 * scale));
    context.font = `600 ${height}px system-ui, sans-serif`;
    const width = context.measureText(text).width + height * 0.6;
    const box = height * 1.35;
    const left = Math.max(0, Math.min(x, context.canvas.width - width));
    const top = y < box ? inside : y - box;
    context.fillStyle = color;
    context.fillRect(left, top, width, box);
    context.fillStyle = isDark(color) ? '#fff' : '#000';
    context.textBaseline = 'middle';
    context.fillText(text, left + height * 0.3, top + box / 2);
  }

  // Coordinates of tables are pixel centres.
  #table(context, table) {
    const fx = context.canvas.width / table.width;
    const fy = context.canvas.height / table.height;
    context.strokeStyle = context.fillStyle = colorOf(table.key);
    context.beginPath();
    for (const row of table.rows) {
      if (table.shape === 'segments') {
        context.moveTo((row.x1 + 0.5) * fx, (row.y1 + 0.5) * fy);
        context.lineTo((row.x2 + 0.5) * fx, (row.y2 + 0.5) * fy);
      } else {
        context.rect((row.x + 0.5) * fx - this.line, (row.y + 0.5) * fy - this.line,
          2 * this.line, 2 * this.line);
      }
    }
    if (table.shape === 'segments') {
      context.stroke();
    } else {
      context.fill();
    }
  }

  // Writes each caption where its first row begins.
  #captions(context, table, scale) {
    const fx = context.canvas.width / table.width;
    const fy = context.canvas.height / table.height;
    let last = '';
    for (const row of table.rows) {
      const text = row.caption ?? '';
      if (text !== last) {
        const y = ((row.y1 ?? row.y) + 0.5) * fy;
        this.#text(context, text, colorOf(table.key), ((row.x1 ?? row.x) + 0.5) * fx, y, y, scale);
      }
      last = text;
    }
  }

  // Updates the paths of tracks; removes tracks that are no longer seen.
  #follow(objects, frame) {
    for (const object of objects) {
      if (object.id === undefined) {
        continue;
      }
      let trail = this.#trails.get(object.id);
      if (trail === undefined || frame < trail.seen) {
        trail = { color: colorOf(labelOf(object), object.id), points: [] };
        this.#trails.set(object.id, trail);
      }
      trail.seen = frame;
      trail.points.push([object.x + object.w / 2, object.y + object.h / 2]);
      trail.points.splice(0, trail.points.length - trailLength);
    }
    for (const [id, trail] of this.#trails) {
      if (frame - trail.seen > trailLength || frame < trail.seen) {
        this.#trails.delete(id);
      }
    }
  }

  #drawTrails(context) {
    for (const trail of this.#trails.values()) {
      context.strokeStyle = trail.color;
      context.beginPath();
      for (const [x, y] of trail.points) {
        context.lineTo(x * this.sx, y * this.sy);
      }
      context.stroke();
    }
  }
}
