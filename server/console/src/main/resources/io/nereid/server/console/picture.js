// @ts-check
// Images and tensors: which shapes are images, and one made from the other.

/**
 * @typedef {{rows: number, columns: number, channels: number, first: boolean, at: number, free: boolean}} Layout
 *     where `first` says that channels come before rows, `at` which dimension the rows are, and `free` that
 *     somebody may choose the size
 */

/** How a brightness from 0 to 1 becomes an element. @type {Record<string, (value: number, channel: number) => number>} */
export const SCALES = {
  '0 … 1': value => value,
  '−1 … 1': value => 2 * value - 1,
  '0 … 255': value => Math.round(255 * value),
  '0 … 16': value => 16 * value,
  'ImageNet': (value, channel) => (value - [0.485, 0.456, 0.406][channel]) / [0.229, 0.224, 0.225][channel],
};

/**
 * How an image lies in a shape; null where the shape is none.
 *
 * @param {number[]} shape without the batch; -1 where it is free
 * @returns {Layout | null}
 */
export function layout(shape) {
  const side = (/** @type {number} */ dim) => dim === -1 || (dim >= 8 && dim <= 4096);
  const colours = (/** @type {number} */ dim) => dim === 1 || dim === 3;
  const size = (/** @type {number} */ dim) => (dim === -1 ? 224 : dim);
  const [a, b, c] = shape;
  const form = (/** @type {number} */ at, /** @type {number} */ channels) =>
    ({rows: size(shape[at]), columns: size(shape[at + 1]), channels, first: at === 1 || shape.length === 2, at, free: shape[at] < 0 || shape[at + 1] < 0});
  if (shape.length === 2 && a > 0 && side(a) && side(b)) return form(0, 1);
  if (shape.length === 3 && colours(a) && side(b) && side(c)) return form(1, a);
  if (shape.length === 3 && colours(c) && side(a) && side(b)) return form(0, c);
  return null;
}

/**
 * The scale that fits most models.
 *
 * @param {string} datatype
 * @param {Layout} form
 */
export function usualScale(datatype, form) {
  if (!/^(FP|BF)/.test(datatype)) return '0 … 255';
  return form.rows === 8 && form.columns === 8 ? '0 … 16' : '0 … 1';
}

/**
 * The elements of an image file, stretched to the layout.
 *
 * @param {Blob} file
 * @param {Layout} form
 * @param {string} scale
 * @param {boolean} ink whether dark is much, as ink on paper
 * @returns {Promise<number[]>}
 */
export async function fromFile(file, form, scale, ink) {
  const bitmap = await createImageBitmap(file);
  const canvas = new OffscreenCanvas(form.columns, form.rows);
  const pen = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d'));
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, form.columns, form.rows);
  pen.imageSmoothingQuality = 'high';
  pen.drawImage(bitmap, 0, 0, form.columns, form.rows);
  bitmap.close();
  const {data} = pen.getImageData(0, 0, form.columns, form.rows);
  const pixels = form.rows * form.columns;
  const values = new Array(pixels * form.channels);
  for (let i = 0; i < pixels; i++) {
    for (let channel = 0; channel < form.channels; channel++) {
      const grey = (0.299 * data[4 * i] + 0.587 * data[4 * i + 1] + 0.114 * data[4 * i + 2]) / 255;
      const value = form.channels === 1 ? grey : data[4 * i + channel] / 255;
      const at = form.first ? channel * pixels + i : i * form.channels + channel;
      values[at] = SCALES[scale](ink ? 1 - value : value, channel);
    }
  }
  return values;
}

/**
 * Draws a tensor that is an image.
 *
 * @param {any[]} values
 * @param {Layout} form
 */
export function toCanvas(values, form) {
  const canvas = document.createElement('canvas');
  canvas.width = form.columns;
  canvas.height = form.rows;
  const pixels = form.rows * form.columns;
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, Number(value));
    high = Math.max(high, Number(value));
  }
  if (low >= 0) [low, high] = [0, high <= 1 ? 1 : high <= 255 ? 255 : high];
  const image = new ImageData(form.columns, form.rows);
  for (let i = 0; i < pixels; i++) {
    for (let channel = 0; channel < 3; channel++) {
      const from = Math.min(channel, form.channels - 1);
      const value = values[form.first ? from * pixels + i : i * form.channels + from];
      image.data[4 * i + channel] = (255 * (Number(value) - low)) / (high - low || 1);
    }
    image.data[4 * i + 3] = 255;
  }
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).putImageData(image, 0, 0);
  canvas.style.width = Math.min(560, Math.max(128, form.columns)) + 'px';
  return canvas;
}
