// @ts-check
// Which of some sentences are near a text, by a model that makes vectors of texts.
import {ask, modelPath} from './api.js';
import {fill, h, say} from './dom.js';
import {duration, plural} from './format.js';
import {decode, encode, isFloat, wanted} from './tensor.js';

const EXAMPLE = {
  text: 'A puppy plays in the garden.',
  sentences: ['Young dogs like to be outside.', 'The cat sleeps on the sofa.', 'Revenue rose by twelve percent.', 'How do I train my dog?'],
};

/**
 * The input for texts and the output with their vectors; null where a model does not have both.
 *
 * @param {any} model
 */
export function slots({inputs, outputs, max_batch_size: most, decoupled, stateful}) {
  const text = inputs.find((/** @type {any} */ input) => input.datatype === 'BYTES' && input.shape[0] < 0 && input.shape.slice(1).every((/** @type {number} */ dim) => Math.abs(dim) === 1));
  const vector = outputs.find((/** @type {any} */ output) => isFloat(output.datatype) && output.shape.length === 2 && (output.shape[1] < 0 || output.shape[1] > 3));
  const alone = inputs.every((/** @type {any} */ input) => input === text || input.optional);
  return text && vector && alone && !decoupled && !stateful ? {text, vector, most: most > 0 ? most : Infinity} : null;
}

/**
 * The cosine of the angle between two vectors.
 *
 * @param {number[]} a
 * @param {number[]} b
 */
export function cosine(a, b) {
  const dot = (/** @type {number[]} */ one, /** @type {number[]} */ other) => one.reduce((sum, value, i) => sum + value * other[i], 0);
  const lengths = Math.sqrt(dot(a, a) * dot(b, b));
  return lengths ? dot(a, b) / lengths : 0;
}

/**
 * The vectors of texts, asked for in as few requests as the model's batches allow.
 *
 * @param {string[]} texts
 * @param {NonNullable<ReturnType<typeof slots>>} places
 * @param {string} path
 * @param {AbortSignal} signal
 */
async function vectors(texts, {text, vector, most}, path, signal) {
  /** @type {number[][]} */
  const all = [];
  for (let i = 0; i < texts.length; i += most) {
    const tokens = texts.slice(i, i + most);
    const shape = [tokens.length, ...text.shape.slice(1).map(() => 1)];
    const {body, headers} = encode([{name: text.name, datatype: 'BYTES', shape, tokens}], [wanted(vector)]);
    const {reply} = await decode(await ask(path, {method: 'POST', body, headers: /** @type {any} */ (headers), signal}));
    const [{shape: got, data}] = reply.outputs;
    const values = data.flat(Infinity).map(Number);
    if (got.length !== 2 || got[0] !== tokens.length) throw new Error(`expected a vector for each of ${tokens.length} texts, got shape [${got.join(', ')}]`);
    tokens.forEach((_, row) => all.push(values.slice(row * got[1], (row + 1) * got[1])));
  }
  return all;
}

/**
 * A form with a text and some sentences, and below it these in the order of their nearness; null where the model makes no vectors of texts.
 *
 * @param {import('./main.js').Context} context
 */
export function near({place, model, signal}) {
  const places = slots(model);
  if (!places) return null;
  const path = modelPath(model.name) + (place.version ? '/versions/' + encodeURIComponent(place.version) : '') + '/infer';
  const text = h('input', {value: EXAMPLE.text, spellcheck: false, id: 'near-text'});
  const sentences = h('textarea', {rows: 5, spellcheck: false, id: 'near-sentences', value: EXAMPLE.sentences.join('\n')});
  const status = h('span', {className: 'soft', role: 'status'});
  const found = h('ol', {className: 'near', 'aria-label': 'The sentences, the nearest first'});
  const compare = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const lines = sentences.value.split('\n').map(line => line.trim()).filter(Boolean);
    if (!text.value.trim() || !lines.length) {
      say(status, 'expected a text, and a sentence on each line');
      return;
    }
    const began = performance.now();
    try {
      const [own, ...others] = await vectors([text.value, ...lines], places, path, signal);
      const rated = lines.map((line, i) => ({line, near: cosine(own, others[i])})).sort((a, b) => b.near - a.near);
      fill(found, ...rated.map(({line, near: cos}) => {
        const bar = h('span');
        bar.style.width = `${100 * Math.max(0, cos)}%`;
        return h('li', {}, h('span', {className: 'num'}, cos.toFixed(2)), h('span', {className: 'bar', 'aria-hidden': 'true'}, bar), h('bdi', {}, line));
      }));
      say(status, `${plural(own.length, 'number')} a vector, ${duration((performance.now() - began) * 1000)}`);
    } catch (e) {
      if (signal.aborted) return;
      fill(found);
      say(status, /** @type {Error} */ (e).message);
    }
  };
  return h('section', {}, h('h2', {}, 'Which of these sentences are near'),
    h('form', {className: 'try compare', onsubmit: compare},
      h('section', {},
        h('label', {htmlFor: 'near-text'}, 'A text'), text,
        h('label', {htmlFor: 'near-sentences'}, 'Sentences, one a line'), sentences,
        h('div', {className: 'row'}, h('button', {className: 'main', id: 'compare'}, 'Compare'), status)),
      h('section', {}, found)));
}
