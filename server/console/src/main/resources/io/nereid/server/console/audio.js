// @ts-check
// Sound and text in tensors: which inputs are one of them, and elements made from a file.
import {svg} from './dom.js';
import {count} from './tensor.js';

/** What most models of speech hear. */
const USUAL_RATE = 16000;

const SOUND = /(^|[^a-z])(audio|waveform|wave|wav|pcm|speech|sound)([^a-z]|$)/i;
const WORDS = /(^|[^a-z])(text|prompt)([^a-z]|$)/i;

/** How a sample from -1 to 1 becomes an element. @type {Record<string, (samples: Float32Array) => ArrayBufferView>} */
const FORMS = {
  FP32: samples => samples,
  INT16: samples => Int16Array.from(samples, value => Math.round(32767 * Math.min(1, Math.max(-1, value)))),
};

/**
 * The rate of the sound that an input takes: the configuration says so, or its name and its shape of a single
 * row do. Null where it takes none.
 *
 * @param {{name: string, datatype: string, shape: number[], media?: string | null}} slot
 * @param {boolean} batched whether its first dimension is the batch
 * @returns {number | null}
 */
export function soundRate({name, datatype, shape, media}, batched) {
  if (!FORMS[datatype]) return null;
  const said = /^audio(?:;rate=(\d+))?$/.exec(media ?? '');
  if (said) return Number(said[1] ?? USUAL_RATE);
  return !media && isRow(shape, batched) && SOUND.test(name) ? USUAL_RATE : null;
}

/**
 * Whether an input of bytes is text in UTF-8.
 *
 * @param {{name: string, datatype: string, shape: number[], media?: string | null}} slot
 * @param {boolean} batched whether its first dimension is the batch
 */
export function isText({name, datatype, shape, media}, batched) {
  if (!/^U?INT8$/.test(datatype)) return false;
  return media === 'text' || (!media && isRow(shape, batched) && WORDS.test(name));
}

/**
 * @param {number[]} shape
 * @param {boolean} batched
 */
const isRow = (shape, batched) => shape.slice(batched ? 1 : 0).filter(dim => dim !== 1).length === 1;

/**
 * The sound of a file that the browser reads, as one channel at a rate.
 *
 * @param {Blob} file
 * @param {number} rate
 * @returns {Promise<Float32Array>}
 */
export async function samplesOf(file, rate) {
  const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(await file.arrayBuffer());
  const channels = Array.from({length: sound.numberOfChannels}, (_, i) => sound.getChannelData(i));
  return Float32Array.from({length: sound.length}, (_, i) => channels.reduce((sum, channel) => sum + channel[i], 0) / channels.length);
}

/**
 * A second of a tone, for who has no sound at hand.
 *
 * @param {number} rate
 */
export const tone = rate => Float32Array.from({length: rate}, (_, i) => 0.3 * Math.sin((2 * Math.PI * 440 * i) / rate));

/**
 * What a shape takes of a sound: all of it where a dimension is free, else so much as fits, with silence behind it.
 *
 * @param {Float32Array} samples
 * @param {number[]} shape without the batch
 * @param {number} from the first sample
 */
export function part(samples, shape, from) {
  if (shape.some(dim => dim < 0)) return samples.slice(from);
  const taken = new Float32Array(count(shape));
  taken.set(samples.subarray(from, from + taken.length));
  return taken;
}

/**
 * @param {Float32Array} samples
 * @param {string} datatype
 */
export function elements(samples, datatype) {
  const {buffer, byteOffset, byteLength} = FORMS[datatype](samples);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const COLUMNS = 300;

/** A drawing of a sound. @param {Float32Array} samples */
export function drawing(samples) {
  const step = Math.max(1, samples.length / COLUMNS);
  let path = '';
  for (let column = 0; column < Math.min(COLUMNS, samples.length); column++) {
    let peak = 0.01;
    for (let i = Math.floor(column * step); i < (column + 1) * step && i < samples.length; i++) peak = Math.max(peak, Math.abs(samples[i]));
    path += `M${column} ${20 - 20 * Math.min(1, peak)}v${40 * Math.min(1, peak)}`;
  }
  return svg('svg', {class: 'wave', viewBox: `0 0 ${COLUMNS} 40`, preserveAspectRatio: 'none', role: 'img', 'aria-label': 'The sound'}, svg('path', {d: path}));
}
