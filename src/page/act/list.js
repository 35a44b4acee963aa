/**
 * A list that a page draws itself (roles combobox, listbox, menu): its options, and what it shows as chosen.
 * @this {Element}
 * @param {{option?: string, step?: 'open' | 'mark' | 'unmark' | 'start' | 'further' | 'end'}} args
 *   `step`: `open` tells what comes from what is there, `mark` what was typed from what the page puts in; `start`,
 *   `further` and `end` scroll the list
 */
function list(args) {
  if (args.step === 'open') startOpening(this);
  if (args.step === 'mark' || args.step === 'unmark') markTyped(this, args.step === 'mark');
  const { step } = args;
  const moved = step === 'start' || step === 'further' || step === 'end' ? scrollList(this, step) : false;
  const lists = listsOf(this);
  const options = optionsOf(this);
  const found = args.option === undefined ? [] : matching(options, args.option);
  const only = found.length === 1 ? found[0] : undefined;
  const input = inputOf(this);
  return {
    connected: this.isConnected,
    open: options.length > 0,
    options: options.slice(0, 50).map(nameOf),
    total: options.length,
    matches: found.length,
    moved,
    menu: only?.getAttribute('role') === 'menuitem',
    disabled: !!only && standstill(only) !== null,
    selected: only !== undefined && isTaken(only),
    editable: input !== null && !input.readOnly,
    value: isSecret(input ?? this) ? '' : oneLine(input ? input.value : isHtml(this) ? this.innerText : '', 200),
    chosen: options.filter(o => o.getAttribute('aria-selected') === 'true').map(nameOf),
    many: lists.some(l => l.getAttribute('aria-multiselectable') === 'true'),
    field: input !== null,
    marked: hasMark(this),
    // Some boxes show their choice beside the field itself, as chips.
    texts: textsIn(this, lists),
    around: textsIn(surroundOf(this), lists),
    offers: offersOf(this, args.option),
  };
}
