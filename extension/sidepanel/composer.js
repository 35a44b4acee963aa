// The field at the bottom. What is typed is kept until it is on its way.

const MAX_HEIGHT_PX = 200;

export class Composer {
  /**
   * @param {object} parts
   * @param {HTMLTextAreaElement} parts.field
   * @param {HTMLButtonElement} parts.send
   * @param {HTMLFormElement} parts.form
   * @param {(text: string) => void} parts.onSend
   * @param {() => boolean} parts.hasMore   something goes with the text, so that it may be empty
   * @param {(draft: string) => void} parts.onDraft
   * @param {() => void} parts.onEscape
   */
  constructor({ field, send, form, onSend, hasMore, onDraft, onEscape }) {
    this.field = field;
    this.button = send;
    this.onSend = onSend;
    this.hasMore = hasMore;
    this.onDraft = onDraft;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.submit();
    });
    field.addEventListener('input', () => this.changed());
    field.addEventListener('keydown', (event) => {
      // While an input method composes, Enter and Escape are its own (229 is what older ones report).
      if (event.isComposing || event.keyCode === 229) return;
      if (event.key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey) {
        event.preventDefault();
        this.submit();
      }
    });
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && !event.isComposing && event.keyCode !== 229) onEscape();
    });
  }

  submit() {
    const text = this.field.value.trim();
    if (!text && !this.hasMore()) return;
    this.set('');
    this.onSend(text);
  }

  changed() {
    this.button.disabled = !this.field.value.trim() && !this.hasMore();
    this.field.style.height = 'auto';
    this.field.style.height = `${Math.min(MAX_HEIGHT_PX, this.field.scrollHeight + 2)}px`;
    this.onDraft(this.field.value);
  }

  /** @param {string} text */
  set(text) {
    this.field.value = text;
    this.changed();
  }

  /**
   * Gives back a text that could not be sent, without losing what was typed since.
   * @param {string} text
   */
  giveBack(text) {
    const typed = this.field.value.trim();
    this.set(typed && typed !== text ? `${text}\n\n${typed}` : text);
  }

  focus() {
    this.field.focus();
  }
}
