// @ts-check
// Tensors as the Open Inference Protocol has them, in JSON and in binary.

/**
 * @typedef {{name: string, datatype: string, shape: number[]}} Slot an input or output in the metadata
 * @typedef {{name: string, datatype: string, shape: number[], tokens?: string[], bytes?: Uint8Array}} Tensor
 *     with its elements as text, or as they are sent
 */

/** Bytes of an element; 0 where it varies. @type {Record<string, number>} */
export const SIZES = {
  BOOL: 1, UINT8: 1, UINT16: 2, UINT32: 4, UINT64: 8, INT8: 1, INT16: 2, INT32: 4, INT64: 8,
  FP16: 2, BF16: 2, FP32: 4, FP64: 8, BYTES: 0,
};

/** Beyond this, elements travel as bytes. */
const MOST_IN_JSON = 4096;

/** JSON has no form of these, or JavaScript reads it inexactly. */
const BINARY = new Set(['FP16', 'BF16', 'INT64', 'UINT64']);

/** @param {number[]} shape */
export const count = shape => shape.reduce((product, dim) => product * dim, 1);

/** @param {string} datatype */
export const isFloat = datatype => /^(FP|BF)/.test(datatype);

/**
 * The shape that so many elements have: dimensions that are free take what is left, the batch one.
 *
 * @param {number[]} shape with -1 where it is free
 * @param {number} elements
 * @param {boolean} batched whether the first dimension is the batch
 */
export function fit(shape, elements, batched) {
  const fitted = [...shape];
  const free = fitted.flatMap((dim, i) => (dim < 0 ? [i] : []));
  const last = batched && free.length > 1 ? free.filter(i => i > 0) : free;
  free.forEach(i => (fitted[i] = 1));
  if (last.length) {
    const others = count(fitted);
    fitted[last[last.length - 1]] = others ? Math.max(1, Math.floor(elements / others)) : 1;
  }
  return fitted;
}

/**
 * The elements in what somebody typed: JSON, or numbers with anything between, or lines of text.
 *
 * @param {string} text
 * @param {string} datatype
 * @param {boolean} lines whether each line of text is an element
 * @returns {string[]}
 */
export function parse(text, datatype, lines) {
  if (datatype === 'BYTES') {
    if (/^\s*\[/.test(text)) {
      try {
        return JSON.parse(text).flat(Infinity).map(String);
      } catch {
        // It is text that begins with a bracket.
      }
    }
    return lines ? text.split('\n') : [text];
  }
  const tokens = text.split(/[\s,;[\]]+/).filter(Boolean);
  for (const token of tokens) check(token, datatype);
  return tokens.map(token => (datatype === 'BOOL' ? String(/^(true|1)$/i.test(token)) : token));
}

/**
 * @param {string} token
 * @param {string} datatype
 */
function check(token, datatype) {
  const form = datatype === 'BOOL' ? /^(true|false|0|1)$/i
    : isFloat(datatype) ? /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
    : datatype.startsWith('U') ? /^\d+$/ : /^-?\d+$/;
  if (!form.test(token)) throw new Error(`expected values of ${datatype}, got ‘${token.slice(0, 40)}’`);
}

/**
 * Elements by lot, such that most models take them: masks are 1, and numbers of tokens and rows are words of most vocabularies.
 *
 * @param {{name: string, datatype: string}} slot
 * @param {number} elements
 */
export function random({name, datatype}, elements) {
  const below = (/** @type {number} */ limit) => Math.floor(Math.random() * limit);
  const same = (/** @type {string} */ value) => new Array(elements).fill(value);
  if (/mask/i.test(name)) return same(datatype === 'BOOL' ? 'true' : '1');
  if (/INT/.test(datatype)) {
    if (/type_?ids|segment/i.test(name)) return same('0');
    if (/position/i.test(name)) return Array.from({length: elements}, (_, i) => String(i));
    if (/(^|_)ids?$|tokens?$/i.test(name) && !/INT8/.test(datatype)) return Array.from({length: elements}, () => String(100 + below(900)));
  }
  return Array.from({length: elements}, () => {
    if (datatype === 'BOOL') return String(below(2) === 1);
    if (isFloat(datatype)) return (below(1000) / 1000).toString();
    return String(below(10));
  });
}

/**
 * The request's body and header fields.
 *
 * @param {Tensor[]} inputs
 * @param {any[]} outputs as the protocol has them
 * @param {any} [parameters]
 */
export function encode(inputs, outputs, parameters) {
  /** @type {Uint8Array[]} */
  const blobs = [];
  const described = inputs.map(input => {
    const head = {name: input.name, datatype: input.datatype, shape: input.shape};
    const blob = wantsBytes(input) ? toBytes(input) : null;
    if (!blob) return JSON.stringify(head).slice(0, -1) + ',"data":' + jsonData(input) + '}';
    blobs.push(blob);
    return JSON.stringify({...head, parameters: {binary_data_size: blob.length}});
  });
  const rest = JSON.stringify({parameters, outputs: outputs.length ? outputs : undefined});
  const text = `{"inputs":[${described.join(',')}]${rest === '{}' ? '' : ',' + rest.slice(1, -1)}}`;
  if (!blobs.length) return {body: text, headers: {'content-type': 'application/json'}, text};
  const head = new TextEncoder().encode(text);
  const headers = {
    'content-type': 'application/octet-stream',
    'inference-header-content-length': String(head.length),
  };
  return {body: new Blob([head, ...blobs.map(part => /** @type {BlobPart} */ (part))]), headers, text};
}

/** @param {Tensor} tensor */
export function wantsBytes(tensor) {
  return Boolean(tensor.bytes) || BINARY.has(tensor.datatype) || (tensor.tokens ?? []).length > MOST_IN_JSON;
}

/** The elements in JSON, their digits as they were typed. @param {Tensor} tensor */
export function jsonData(tensor) {
  const tokens = tensor.tokens ?? (tensor.bytes ? elements(tensor.bytes, tensor.datatype).map(String) : []);
  if (tensor.datatype === 'BYTES') return JSON.stringify(tokens);
  return '[' + tokens.map(token => token.replace(/^(-?)0+(?=\d)/, '$1').replace(/^(-?)\./, '$10.').replace(/\.(?=e|$)/i, '')).join(',') + ']';
}

/**
 * @param {Tensor} tensor
 * @returns {Uint8Array}
 */
export function toBytes(tensor) {
  if (tensor.bytes) return tensor.bytes;
  const tokens = tensor.tokens ?? [];
  if (tensor.datatype === 'BYTES') return stringsToBytes(tokens);
  const size = SIZES[tensor.datatype];
  const view = new DataView(new ArrayBuffer(tokens.length * size));
  tokens.forEach((token, i) => write(view, i * size, tensor.datatype, token));
  return new Uint8Array(view.buffer);
}

/** Each behind its length, as the protocol has them. @param {string[]} strings */
function stringsToBytes(strings) {
  const parts = strings.map(text => new TextEncoder().encode(text));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + 4 + part.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const part of parts) {
    view.setUint32(at, part.length, true);
    bytes.set(part, at + 4);
    at += 4 + part.length;
  }
  return bytes;
}

/**
 * @param {DataView} view
 * @param {number} at
 * @param {string} datatype
 * @param {string} token
 */
function write(view, at, datatype, token) {
  switch (datatype) {
    case 'BOOL': return view.setUint8(at, token === 'true' ? 1 : 0);
    case 'UINT8': return view.setUint8(at, Number(token));
    case 'INT8': return view.setInt8(at, Number(token));
    case 'UINT16': return view.setUint16(at, Number(token), true);
    case 'INT16': return view.setInt16(at, Number(token), true);
    case 'UINT32': return view.setUint32(at, Number(token), true);
    case 'INT32': return view.setInt32(at, Number(token), true);
    case 'UINT64': return view.setBigUint64(at, BigInt(token), true);
    case 'INT64': return view.setBigInt64(at, BigInt(token), true);
    case 'FP32': return view.setFloat32(at, Number(token), true);
    case 'FP64': return view.setFloat64(at, Number(token), true);
    case 'FP16': return view.setUint16(at, toHalf(Number(token)), true);
    case 'BF16': return view.setUint16(at, toBrain(Number(token)), true);
    default: throw new Error(`no such datatype: ${datatype}`);
  }
}

const bits = new DataView(new ArrayBuffer(4));

/** @param {number} value */
function toBrain(value) {
  bits.setFloat32(0, value);
  const word = bits.getUint32(0);
  return ((word + 0x7fff + ((word >>> 16) & 1)) >>> 16) & 0xffff;
}

/** The bits of the nearest half float. @param {number} value */
function toHalf(value) {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00;
  if (size < 2 ** -14) return sign | even(size * 2 ** 24);
  const exponent = Math.floor(Math.log2(size));
  // A mantissa that rounds up to 1024 carries into the exponent, which is right.
  return sign | (((exponent + 15) << 10) + even((size / 2 ** exponent - 1) * 1024));
}

/** To the nearest whole number, of two the even one. @param {number} value */
function even(value) {
  const low = Math.floor(value);
  const half = value - low;
  return half > 0.5 || (half === 0.5 && low % 2 === 1) ? low + 1 : low;
}

/** @param {number} half */
function fromHalf(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const mantissa = half & 1023;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}

/**
 * @param {DataView} view
 * @param {number} at
 * @param {string} datatype
 * @returns {number | bigint | boolean}
 */
function read(view, at, datatype) {
  switch (datatype) {
    case 'BOOL': return view.getUint8(at) !== 0;
    case 'UINT8': return view.getUint8(at);
    case 'INT8': return view.getInt8(at);
    case 'UINT16': return view.getUint16(at, true);
    case 'INT16': return view.getInt16(at, true);
    case 'UINT32': return view.getUint32(at, true);
    case 'INT32': return view.getInt32(at, true);
    case 'UINT64': return view.getBigUint64(at, true);
    case 'INT64': return view.getBigInt64(at, true);
    case 'FP32': return view.getFloat32(at, true);
    case 'FP64': return view.getFloat64(at, true);
    case 'FP16': return fromHalf(view.getUint16(at, true));
    case 'BF16': bits.setUint32(0, view.getUint16(at, true) << 16); return bits.getFloat32(0);
    default: throw new Error(`no such datatype: ${datatype}`);
  }
}

/**
 * The elements of a tensor that came or goes as bytes, and whose elements are of one size.
 *
 * @param {Uint8Array} bytes
 * @param {string} datatype
 */
function elements(bytes, datatype) {
  const step = SIZES[datatype];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({length: bytes.length / step}, (_, i) => read(view, i * step, datatype));
}

/** How an output is asked for: in binary where JSON would not do. @param {Slot} slot */
export function wanted(slot) {
  return BINARY.has(slot.datatype) ? {name: slot.name, parameters: {binary_data: true}} : {name: slot.name};
}

/**
 * The outputs of a reply, each with its elements in `data`.
 *
 * @param {Response} response
 */
export async function decode(response) {
  const whole = new Uint8Array(await response.arrayBuffer());
  const length = Number(response.headers.get('inference-header-content-length') ?? whole.length);
  const text = new TextDecoder().decode(whole.subarray(0, length));
  const reply = JSON.parse(text);
  let at = length;
  for (const output of reply.outputs ?? []) {
    const size = output.parameters?.binary_data_size;
    if (size === undefined) continue;
    output.data = elements(whole.subarray(at, at + size), output.datatype);
    at += size;
  }
  return {reply, text, bytes: whole.length};
}
