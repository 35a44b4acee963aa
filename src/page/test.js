/**
 * Calls a condition that the model wrote as a function; `this` is that function.
 * @this {(arg: unknown) => unknown}
 * @param {unknown} arg
 */
function test(arg) {
  return this(arg);
}
