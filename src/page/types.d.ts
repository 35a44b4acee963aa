// Types of the page library, for the type checker only. Nothing here is sent anywhere.

/** What the host holds of a world: functions by name, elements by slot. */
interface Registry {
  /** Adds a function that the host can call with data. */
  define(name: string, run: (...args: any[]) => unknown): void;
  /** Adds a function whose first argument the host gives as a slot. */
  defineFor(name: string, run: (element: Element, ...args: any[]) => unknown): void;
  /** Answers the host: JSON text of `{ok: …}` or `{gone: true}`. */
  call(name: string, args: any[]): string | Promise<string>;
  /** The element behind a slot; slot 0 is the document. */
  element(slot: number): Node | null;
  /** The slot of an element, the same for as long as the document lives. */
  slotOf(element: Element): number;
  /** Whether the element can still be found in a document that is shown. */
  isShown(element: Element): boolean;
}

/** A rectangle by its edges, CSS px. */
interface Edges {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** One document of this world: its own, or that of a same-origin frame inside it. */
interface Place {
  document: Document;
  /** The element that shows it, unless it is the world's own. */
  frame: Element | null;
  outer: Place | null;
  /** Where its viewport begins in the viewport of the world's own document. */
  x: number;
  y: number;
  width: number;
  height: number;
  /** Something lies over the whole frame. */
  covered: boolean;
  /** The whole document can be edited. */
  design: boolean;
  /** Its topmost modal dialog. */
  modal: Element | null;
}

/** What ancestors do to an element's visibility; in the coordinates of the world's own viewport. */
interface Clip {
  /** What can be seen now. */
  seen: Edges;
  /** What scrolling can bring into view. */
  reach: Edges;
}

/** What is handed down while walking. */
interface Inherited {
  place: Place;
  /** For children in the flow, positioned absolutely, fixed. */
  clip: Clip;
  absolute: Clip;
  fixed: Clip;
  opacity: number;
  pointer: boolean;
  inert: boolean;
  disabled: boolean;
  editable: boolean;
  live: boolean;
  layer: number;
  owner: Candidate | null;
}

/** Something that may become an entry of the view. */
interface Candidate {
  element: Element;
  /** The visible label that stands for a control which cannot be seen itself. */
  proxy: Element | null;
  kind: 'control' | 'handler' | 'weak' | 'scroll' | 'text' | 'frame';
  tag: string;
  role: string;
  /** Of what is to be seen of it; `null` for what is not. */
  style: CSSStyleDeclaration | null;
  owner: Candidate | null;
  /** Candidates inside it that are no mere part of it. */
  inner: number;
  inherited: Inherited;
  clip: Clip;
  scrollable: boolean;
  /** Filled when it is measured. */
  box: Edges | null;
  dropped: boolean;
  /** Not shown, but of use all the same (file fields). */
  hidden: boolean;
  /** Words of the text shown, when they were already read. */
  text: string | null;
}

/** One entry as the host gets it. */
interface Entry {
  /** Slot. */
  s: number;
  /** 0 element, 1 text, 2 frame of another origin. */
  k: number;
  /** Tag, role, type, name, address: the fingerprint. */
  t: string;
  r?: string;
  y?: string;
  n?: string;
  h?: string;
  /** Text between the tags when that is not the name; `c`: the name is the text. */
  x?: string;
  c?: boolean;
  /** State words. */
  w?: string[];
  /** Further attributes. */
  a?: [string, string][];
  /** Options of a list, and how many more there are. */
  p?: string[];
  q?: number;
  /** 1 new, 2 off screen, 4 in a dialog or popover, 8 out of reach. */
  m?: number;
  /** What of it can be seen: left, top, right, bottom. */
  b?: number[] | undefined;
}

interface HTMLElement {
  /** Not in every version of the type library. */
  readonly popover: string | null;
}
