// @ts-check
// One input of a model, as a part of the form: typed, drawn, by lot, or from a file that is dropped on it.
import {drawing, elements, isText, part, samplesOf, soundRate, tone} from './audio.js';
import {fill, h, say} from './dom.js';
import {bytes, duration, plural} from './format.js';
import {fromFile, layout, SCALES, usualScale} from './picture.js';
import {Sketch} from './sketch.js';
import {count, fit, parse, random, SIZES} from './tensor.js';

/** More elements are sent from where they are, and not written into the form. */
const MOST_SHOWN = 5000;

export class Field {
  /**
   * @param {any} slot name, datatype, shape and media of the input
   * @param {boolean} batched whether its first dimension is the batch
   * @param {() => void} drawn is called when a drawing changed
   */
  constructor(slot, batched, drawn) {
    this.slot = slot;
    this.batched = batched;
    this.drawn = drawn;
    /** What came from a file or an image and is too much to show. @type {Uint8Array | null} */
    this.bytes = null;
    /** What a part of is sent. @type {Float32Array | null} */
    this.sound = null;
    /** How many dimensions stand before those of an image. */
    this.before = batched || (slot.shape.length === 4 && Math.abs(slot.shape[0]) === 1) ? 1 : 0;
    this.form = slot.datatype === 'BYTES' ? null : layout(slot.shape.slice(this.before));
    this.rate = soundRate(slot, batched);
    this.text = isText(slot, batched);
    this.free = slot.shape.filter((/** @type {number} */ dim) => dim < 0).length > (batched ? 1 : 0);
    const {name, datatype, shape, optional} = slot;
    const id = 'input-' + (Field.count = (Field.count ?? 0) + 1);
    this.area = h('textarea', {id, rows: 3, spellcheck: false, 'data-input': name, oninput: () => {
      this.use();
      this.image = null;
      this.#typed();
    }});
    this.shape = h('input', {'aria-label': `Shape of ${name}`, spellcheck: false, oninput: () => this.#shaped()});
    this.problem = h('p', {className: 'problem wrong', role: 'alert'});
    this.note = h('p', {className: 'soft', hidden: true});
    this.lines = h('input', {type: 'checkbox', onchange: () => this.#typed()});
    this.off = h('input', {type: 'checkbox', checked: optional});
    this.file = h('input', {type: 'file', hidden: true, tabIndex: -1, 'aria-label': `A file for ${name}`, onchange: () => this.#files(this.file.files)});
    this.tools = h('div', {className: 'row tools'},
      h('button', {type: 'button', onclick: () => {
        this.image = null;
        this.random();
        this.#tell();
      }}, datatype === 'BYTES' || this.text ? 'Some text' : this.rate ? 'A tone' : 'Random'),
      h('button', {type: 'button', onclick: () => this.file.click()}, this.rate ? 'Sound or file …' : this.form ? 'Image or file …' : 'File …'), this.file,
      datatype === 'BYTES' && this.free && h('label', {}, this.lines, 'each line is an element'),
      optional && h('label', {}, this.off, 'leave it out'));
    this.element = h('div', {className: 'field',
      ondragover: (/** @type {DragEvent} */ event) => this.#over(event, true), ondragleave: (/** @type {DragEvent} */ event) => this.#over(event, false), ondrop: (/** @type {DragEvent} */ event) => this.#drop(event)},
      h('header', {}, h('h3', {}, h('label', {htmlFor: id}, h('bdi', {}, name))), h('span', {className: 'soft'}, `${datatype} [${shape.join(', ')}]`), this.shape));
    if (this.form) this.#pictures();
    if (this.rate) this.#sounds();
    this.element.append(this.area, this.note, this.problem, this.tools);
    this.random();
  }

  /** What inputs have that are images. */
  #pictures() {
    const form = /** @type {import('./picture.js').Layout} */ (this.form);
    this.scale = h('select', {'aria-label': 'Values of a pixel', onchange: () => this.#again()},
      ...Object.keys(SCALES).filter(name => name !== 'ImageNet' || form.channels === 3).map(name => h('option', {}, name)));
    this.scale.value = usualScale(this.slot.datatype, form);
    this.ink = h('input', {type: 'checkbox', checked: form.rows === 8 && form.columns === 8, onchange: () => this.#again()});
    this.tools.append(h('label', {}, 'a pixel is', this.scale), h('label', {}, this.ink, 'dark is much'));
    if (form.free) {
      const side = (/** @type {number} */ i, /** @type {number} */ size) => h('input', {type: 'number', min: 1, max: 4096, value: String(size), disabled: this.#sides()[i] >= 0, oninput: () => {
        this.fixed = false;
        this.#resized();
      }});
      this.height = side(0, form.rows);
      this.width = side(1, form.columns);
      this.tools.append(h('label', {}, 'height', this.height), h('label', {}, 'width', this.width));
    }
    if (form.channels > 1 || form.rows > 64 || form.columns > 64) return;
    this.sketch = new Sketch(form.rows, form.columns, ink => {
      this.image = null;
      this.#take(ink.map(value => SCALES[this.#scale()](value, 0)));
      this.drawn();
    });
    this.element.append(this.sketch.element);
  }

  /** What inputs have that are sound. */
  #sounds() {
    this.wave = h('div');
    this.from = h('input', {type: 'number', min: 0, step: 0.01, value: '0', oninput: () => this.sound && this.#hear(this.sound)});
    this.element.append(this.wave);
    this.tools.append(h('label', {}, 'from second', this.from), h('span', {className: 'soft'}, `one channel, ${this.rate} samples a second`));
  }

  /** @param {Float32Array} sound */
  #hear(sound) {
    const rate = Number(this.rate);
    const shape = this.batched ? this.slot.shape.slice(1) : this.slot.shape;
    const taken = part(sound, shape, Math.max(0, Math.floor(Number(this.from?.value) * rate)));
    this.#raw(elements(taken, this.slot.datatype), `${duration((1e6 * taken.length) / rate)} of ${duration((1e6 * sound.length) / rate)} of sound`);
    fill(/** @type {Element} */ (this.wave), drawing(taken));
    this.sound = sound;
  }

  /** The dimensions of rows and columns, as the model has them. */
  #sides() {
    const at = this.before + /** @type {import('./picture.js').Layout} */ (this.form).at;
    return this.slot.shape.slice(at, at + 2);
  }

  /** The shape with the chosen size of the image, which is made anew when that changes. */
  #sized() {
    const shape = [...this.slot.shape];
    if (this.form?.free) {
      const at = this.before + this.form.at;
      [shape[at], shape[at + 1]] = [this.form.rows, this.form.columns];
    }
    return shape;
  }

  /** Somebody chose another size. */
  #resized() {
    const form = /** @type {import('./picture.js').Layout} */ (this.form);
    const [rows, columns] = [Number(this.height?.value), Number(this.width?.value)];
    if (!(rows >= 1 && rows <= 4096 && columns >= 1 && columns <= 4096)) return;
    [form.rows, form.columns] = [rows, columns];
    if (this.image) this.#again();
    else this.random();
  }

  /** Somebody wrote a shape; an image whose size is free follows it. */
  #shaped() {
    const dims = this.shape.value.split(/[^\d-]+/).filter(Boolean).map(Number);
    this.fixed = dims.length > 0;
    if (!this.form?.free || !this.height || !this.width || dims.length !== this.slot.shape.length) return;
    const at = this.before + this.form.at;
    if (dims[at] === this.form.rows && dims[at + 1] === this.form.columns) return;
    [this.height.value, this.width.value] = [String(dims[at]), String(dims[at + 1])];
    this.#resized();
  }

  #scale() {
    return this.scale?.value ?? '0 … 1';
  }

  #again() {
    if (this.image) this.#show(this.image);
  }

  #typed() {
    this.area.rows = Math.min(5, 1 + Math.ceil(this.area.value.length / 70));
    this.bytes = null;
    this.sound = null;
    this.wave?.replaceChildren();
    this.note.hidden = true;
    say(this.problem, '');
    this.#shapeOf();
  }

  /** Writes the shape that fits the elements, unless somebody wrote one. */
  #shapeOf() {
    if (this.fixed) return;
    try {
      this.shape.value = this.#fitted().join(', ');
    } catch {
      // What is wrong is said when it is sent.
    }
  }

  /** @param {number[]} values */
  #take(values) {
    const whole = !/^(FP|BF)/.test(this.slot.datatype);
    if (values.length > MOST_SHOWN && this.slot.datatype === 'FP32') {
      this.#raw(new Uint8Array(Float32Array.from(values).buffer), `${plural(values.length, 'value')} of an image`);
    } else {
      this.area.value = values.map(value => String(whole ? Math.round(value) : Math.round(value * 1e4) / 1e4)).join(', ');
      this.#typed();
    }
  }

  /**
   * @param {Uint8Array} raw
   * @param {string} what
   */
  #raw(raw, what) {
    this.bytes = raw;
    this.sound = null;
    this.wave?.replaceChildren();
    this.area.value = '';
    say(this.note, `${what}, ${bytes(raw.length)}. What you type takes its place.`);
    this.note.hidden = false;
    say(this.problem, '');
    this.#shapeOf();
  }

  random() {
    const {datatype} = this.slot;
    this.area.value = '';
    if (this.rate) {
      this.#hear(tone(this.rate));
      return;
    }
    const wanted = count(this.#sized().map((dim, i) => (dim >= 0 ? dim : i < this.before ? 1 : 4)));
    const values = random(this.slot, wanted);
    if (this.text) {
      this.area.value = 'The sea was calm.';
      this.#typed();
    } else if (datatype === 'BYTES') {
      this.area.value = wanted === 1 ? 'The sea was calm.' : this.free ? 'The sea was calm.' : values.join('\n');
      this.#typed();
    } else if (wanted > MOST_SHOWN && datatype === 'FP32') {
      this.#raw(new Uint8Array(Float32Array.from(values, Number).buffer), `${plural(wanted, 'value')} by chance`);
    } else {
      this.area.value = values.join(', ');
      this.#typed();
    }
  }

  /** Whether each line is an element: where the shape wants more than one. */
  #byLine() {
    return this.free ? this.lines.checked : count(this.slot.shape.map(Math.abs)) > 1;
  }

  #tokens() {
    if (this.text) return utf8(this.area.value, this.slot.datatype);
    return parse(this.area.value, this.slot.datatype, this.#byLine());
  }

  #fitted() {
    const {datatype} = this.slot;
    const has = this.bytes ? (SIZES[datatype] ? this.bytes.length / SIZES[datatype] : 1) : this.#tokens().length;
    return fit(this.#sized(), has, this.batched);
  }

  /**
   * What is to be sent; null where it is left out. An error says what is wrong with it, here and beside the field.
   *
   * @returns {import('./tensor.js').Tensor | null}
   */
  tensor() {
    if (this.slot.optional && this.off.checked) return null;
    const {name, datatype} = this.slot;
    try {
      const tokens = this.bytes ? undefined : this.#tokens();
      const shape = this.fixed ? this.shape.value.split(/[^\d-]+/).filter(Boolean).map(Number) : this.#fitted();
      const has = this.bytes ? (SIZES[datatype] ? this.bytes.length / SIZES[datatype] : 1) : /** @type {string[]} */ (tokens).length;
      if (has !== count(shape)) throw new Error(`expected ${plural(count(shape), 'element')} for [${shape.join(', ')}], got ${has}`);
      say(this.problem, '');
      const raw = this.bytes && datatype === 'BYTES' ? prefixed(this.bytes) : this.bytes ?? undefined;
      return {name, datatype, shape, tokens, bytes: raw};
    } catch (e) {
      say(this.problem, /** @type {Error} */ (e).message);
      throw e;
    }
  }

  /**
   * @param {DragEvent} event
   * @param {boolean} on
   */
  #over(event, on) {
    event.preventDefault();
    this.element.classList.toggle('over', on);
  }

  /** @param {DragEvent} event */
  #drop(event) {
    this.#over(event, false);
    this.#files(event.dataTransfer?.files ?? null);
  }

  /** @param {FileList | null} files */
  async #files(files) {
    const file = files?.[0];
    if (!file) return;
    this.image = null;
    try {
      if (this.form && file.type.startsWith('image/')) {
        await this.#show(file);
        this.drawn();
      } else if (/\.json$/i.test(file.name) || file.type.startsWith('text/')) {
        this.area.value = await file.text();
        this.#typed();
      } else if (this.rate && /^(audio|video)\//.test(file.type)) {
        this.#hear(await samplesOf(file, this.rate));
      } else {
        this.#raw(new Uint8Array(await file.arrayBuffer()), file.name);
      }
      this.#tell();
    } catch (e) {
      say(this.problem, `${file.name}: ${/** @type {Error} */ (e).message}`);
    }
    this.file.value = '';
  }

  /** Sends the input, where it can be left out. */
  use() {
    this.off.checked = false;
  }

  /**
   * Takes what an example or a link has.
   *
   * @param {{shape?: number[], data: any} | undefined} given undefined: it is left out
   */
  take(given) {
    this.off.checked = !given;
    if (!given) return;
    const {datatype} = this.slot;
    const data = [given.data].flat(Infinity);
    const shape = given.shape?.join(', ');
    this.image = null;
    if (shape) {
      this.shape.value = shape;
      this.#shaped();
    }
    this.fixed = false;
    if (data.length > MOST_SHOWN && datatype === 'FP32') {
      this.#raw(new Uint8Array(Float32Array.from(data).buffer), plural(data.length, 'value'));
    } else {
      this.area.value = this.text ? new TextDecoder().decode(Uint8Array.from(data)) : datatype !== 'BYTES' ? data.join(', ') : data.length === 1 ? data[0] : JSON.stringify(data);
      this.#typed();
    }
    if (shape && this.shape.value !== shape) {
      this.shape.value = shape;
      this.fixed = true;
    }
    const [paper, full] = [0, 1].map(value => SCALES[this.#scale()](value, 0));
    this.sketch?.show(data.map(value => (value - paper) / (full - paper)));
  }

  /** Whoever listens to the form hears of what nobody typed. */
  #tell() {
    this.use();
    this.element.dispatchEvent(new Event('input', {bubbles: true}));
  }

  /** @param {Blob} file */
  async #show(file) {
    this.image = file;
    this.#take(await fromFile(file, /** @type {any} */ (this.form), this.#scale(), Boolean(this.ink?.checked)));
  }
}

/** How many fields there have been, for their ids. @type {number | undefined} */
Field.count = 0;

/**
 * The bytes of a text as elements.
 *
 * @param {string} text
 * @param {string} datatype
 */
function utf8(text, datatype) {
  const raw = new TextEncoder().encode(text);
  return Array.from(datatype === 'INT8' ? new Int8Array(raw.buffer, raw.byteOffset, raw.length) : raw, String);
}

/** The bytes of one element behind their length. @param {Uint8Array} content */
function prefixed(content) {
  const whole = new Uint8Array(4 + content.length);
  new DataView(whole.buffer).setUint32(0, content.length, true);
  whole.set(content, 4);
  return whole;
}
