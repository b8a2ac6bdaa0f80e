// Flatbuffers, as far as Arrow needs them: built backwards, every place is its distance from the end.

export class Builder {
  #bytes = new Uint8Array(1024);
  #head = 1024;
  #alignment = 1;

  get end() {
    return this.#bytes.length - this.#head;
  }

  // Room for `size` aligned bytes with `more` bytes after them.
  #prepare(size, more = 0) {
    this.#alignment = Math.max(this.#alignment, size);
    const padding = -(this.end + more) & (size - 1);
    this.#grow(padding + size + more);
    this.#head -= padding;
  }

  #grow(wanted) {
    while (this.#head < wanted) {
      const grown = new Uint8Array(2 * this.#bytes.length);
      grown.set(this.#bytes, this.#bytes.length);
      this.#head += this.#bytes.length;
      this.#bytes = grown;
    }
  }

  #put(size, value) {
    this.#head -= size;
    const view = new DataView(this.#bytes.buffer);
    if (size === 1) view.setUint8(this.#head, value);
    else if (size === 2) view.setInt16(this.#head, value, true);
    else if (size === 4) view.setInt32(this.#head, value, true);
    else view.setBigInt64(this.#head, BigInt(value), true);
  }

  string(text) {
    const bytes = new TextEncoder().encode(text);
    this.#prepare(4, bytes.length + 1);
    this.#put(1, 0);
    this.#head -= bytes.length;
    this.#bytes.set(bytes, this.#head);
    this.#put(4, bytes.length);
    return this.end;
  }

  // A vector of places of tables or strings.
  vector(places) {
    this.#prepare(4, 4 * places.length);
    for (const place of [...places].reverse()) this.#put(4, this.end + 4 - place);
    this.#put(4, places.length);
    return this.end;
  }

  // A vector of structs; each is a list of [size, value], the whole a multiple of 8.
  structs(items) {
    const size = (items[0] ?? []).reduce((sum, [bytes]) => sum + bytes, 0);
    this.#prepare(4, size * items.length);
    this.#prepare(8, size * items.length);
    for (const item of [...items].reverse()) for (const [bytes, value] of [...item].reverse()) this.#put(bytes, value);
    this.#put(4, items.length);
    return this.end;
  }

  // A table of fields {slot: [size, value]}; size "place" is a table, vector or string made before.
  table(fields) {
    const start = this.end, places = {};
    for (const [slot, [kind, value]] of Object.entries(fields)) {
      const size = kind === "place" ? 4 : kind;
      this.#prepare(size);
      this.#put(size, kind === "place" ? this.end + 4 - value : value);
      places[slot] = this.end;
    }
    this.#prepare(4);
    this.#put(4, 0);
    const table = this.end, slots = Math.max(-1, ...Object.keys(fields).map(Number)) + 1;
    this.#grow(4 + 2 * slots);
    for (let slot = slots - 1; slot >= 0; slot--) this.#put(2, slot in places ? table - places[slot] : 0);
    this.#put(2, table - start);
    this.#put(2, 4 + 2 * slots);
    new DataView(this.#bytes.buffer).setInt32(this.#bytes.length - table, this.end - table, true);
    return table;
  }

  finish(root) {
    this.#prepare(this.#alignment, 4);
    this.#put(4, this.end + 4 - root);
    return this.#bytes.slice(this.#head);
  }
}
