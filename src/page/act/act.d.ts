// Names that the acting functions find around them. Nothing here is sent anywhere.

/** The window of the document that the functions were made for. */
declare const view: Window & typeof globalThis;

/** Makes the acting functions for one document: the files of this folder, put together when the program is built. */
declare function actingKit(view: Window & typeof globalThis): {
  aim: typeof aim;
  reach: typeof reach;
  watch: typeof watch;
  field: typeof field;
  choose: typeof choose;
  list: typeof list;
  waiting: typeof waiting;
  scroll: typeof scrollBox;
  submit: typeof submit;
  give: typeof give;
  hover: typeof hover;
  dragging: typeof dragging;
};
