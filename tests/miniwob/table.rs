//! Every page of MiniWoB++, and how it is played.

use futures::future::BoxFuture;

use crate::oracles::{clicks, dates, drags, forms, mail, reading, shops, social, text};
use crate::play::{Play, Played};

/// How a task is played.
pub enum Way {
    /// By this script.
    Solved(for<'a> fn(Play<'a>) -> BoxFuture<'a, Played>),
    /// Not; and why.
    Unsolved(&'static str),
}

use Way::{Solved, Unsolved};

const PICTURE: &str =
    "places, sizes or colours of a drawing, which only a picture tells; a script does not see";
const MOTION: &str = "what moves must be followed by the eye";
const PATH: &str = "the mouse must be led along a path; drag goes straight from one place to another";
const SECRET: &str = "has a password field, and the tools leave those to the person";
const SELECTION: &str = "no tool marks text that is not in a field";
const COLOUR: &str = "a colour wheel is set by eye";
const LUCK: &str = "only a mistake of the other side lets one win";
const HANDLE: &str = "the view gives no number to an edge that resizes, which only its cursor tells";

macro_rules! solved {
    ($oracle:path) => {
        Solved(|play| Box::pin(async move { $oracle(&play).await }))
    };
}

/// All pages, by name.
pub const TASKS: &[(&str, Way)] = &[
    ("ascending-numbers", solved!(clicks::ascending)),
    ("bisect-angle", Unsolved(PICTURE)),
    ("book-flight", solved!(shops::flight)),
    ("book-flight-nodelay", solved!(shops::flight)),
    ("button-delay", solved!(clicks::one_wait_two)),
    ("buy-ticket", solved!(shops::ticket)),
    ("chase-circle", Unsolved(MOTION)),
    ("choose-date", solved!(dates::choose)),
    ("choose-date-easy", solved!(dates::choose)),
    ("choose-date-medium", solved!(dates::choose)),
    ("choose-date-nodelay", solved!(dates::choose)),
    ("choose-list", solved!(forms::choose_list)),
    ("circle-center", Unsolved(PICTURE)),
    ("click-button", solved!(clicks::named_button)),
    ("click-button-sequence", solved!(clicks::one_then_two)),
    ("click-checkboxes", solved!(clicks::checkboxes)),
    ("click-checkboxes-large", solved!(clicks::checkboxes)),
    ("click-checkboxes-soft", solved!(clicks::synonyms)),
    ("click-checkboxes-transfer", solved!(clicks::checkboxes)),
    ("click-collapsible", solved!(clicks::section)),
    ("click-collapsible-2", solved!(clicks::word_below_sections)),
    ("click-collapsible-2-nodelay", solved!(clicks::word_below_sections)),
    ("click-collapsible-nodelay", solved!(clicks::section)),
    ("click-color", Unsolved(PICTURE)),
    ("click-dialog", solved!(clicks::close_dialog)),
    ("click-dialog-2", solved!(clicks::dialog_button)),
    ("click-link", solved!(clicks::link)),
    ("click-menu", solved!(clicks::menu)),
    ("click-menu-2", solved!(clicks::menu_with_icons)),
    ("click-option", solved!(clicks::radio)),
    ("click-pie", solved!(clicks::pie)),
    ("click-pie-nodelay", solved!(clicks::pie)),
    ("click-scroll-list", solved!(forms::scroll_list)),
    ("click-shades", Unsolved(PICTURE)),
    ("click-shape", Unsolved(PICTURE)),
    ("click-tab", solved!(clicks::tab)),
    ("click-tab-2", solved!(clicks::word_behind_tabs)),
    ("click-tab-2-easy", solved!(clicks::link)),
    ("click-tab-2-hard", solved!(clicks::word_behind_tabs)),
    ("click-tab-2-medium", solved!(clicks::word_behind_tabs)),
    ("click-test", solved!(clicks::one_button)),
    ("click-test-2", solved!(clicks::one_button)),
    ("click-test-transfer", solved!(clicks::one_button)),
    ("click-widget", solved!(clicks::widget)),
    ("copy-paste", solved!(reading::copy)),
    ("copy-paste-2", solved!(reading::copy_nth)),
    ("count-shape", Unsolved(PICTURE)),
    ("count-sides", Unsolved(PICTURE)),
    ("daily-calendar", Unsolved(PICTURE)),
    ("drag-box", solved!(drags::small_box)),
    ("drag-circle", solved!(drags::shape)),
    ("drag-cube", Unsolved(PICTURE)),
    ("drag-items", solved!(drags::items)),
    ("drag-items-grid", solved!(drags::grid)),
    ("drag-shapes", Unsolved(PICTURE)),
    ("drag-shapes-2", Unsolved(PICTURE)),
    ("drag-single-shape", solved!(drags::shape)),
    ("drag-sort-numbers", solved!(drags::sort)),
    ("draw-circle", Unsolved(PATH)),
    ("draw-line", Unsolved(PATH)),
    ("email-inbox", solved!(mail::inbox)),
    ("email-inbox-delete", solved!(mail::inbox)),
    ("email-inbox-forward", solved!(mail::inbox)),
    ("email-inbox-forward-nl", solved!(mail::inbox)),
    ("email-inbox-forward-nl-turk", solved!(mail::inbox)),
    ("email-inbox-important", solved!(mail::inbox)),
    ("email-inbox-nl-turk", solved!(mail::inbox)),
    ("email-inbox-noscroll", solved!(mail::inbox)),
    ("email-inbox-reply", solved!(mail::inbox)),
    ("email-inbox-star-reply", solved!(mail::inbox)),
    ("enter-date", solved!(forms::enter_date)),
    ("enter-password", Unsolved(SECRET)),
    ("enter-text", solved!(forms::enter_text)),
    ("enter-text-2", solved!(forms::enter_cased)),
    ("enter-text-dynamic", solved!(forms::enter_text)),
    ("enter-time", solved!(forms::enter_time)),
    ("find-greatest", solved!(reading::greatest)),
    ("find-midpoint", Unsolved(PICTURE)),
    ("find-word", solved!(reading::nth_word)),
    ("focus-text", solved!(forms::focus)),
    ("focus-text-2", solved!(forms::focus_nth)),
    ("form-sequence", solved!(forms::sequence)),
    ("form-sequence-2", solved!(forms::sequence_2)),
    ("form-sequence-3", solved!(forms::sequence_3)),
    ("generate-number", solved!(forms::generate)),
    ("grid-coordinate", solved!(clicks::coordinate)),
    ("guess-number", solved!(forms::guess)),
    ("highlight-text", Unsolved(SELECTION)),
    ("highlight-text-2", Unsolved(SELECTION)),
    ("hot-cold", Unsolved(PATH)),
    ("hover-shape", Unsolved(MOTION)),
    ("identify-shape", solved!(clicks::identify)),
    ("login-user", Unsolved(SECRET)),
    ("login-user-popup", Unsolved(SECRET)),
    ("moving-items", Unsolved(MOTION)),
    ("multi-layouts", solved!(forms::movies)),
    ("multi-orderings", solved!(forms::movies)),
    ("navigate-tree", solved!(clicks::tree)),
    ("number-checkboxes", Unsolved(PICTURE)),
    ("odd-or-even", solved!(forms::odd_or_even)),
    ("order-food", solved!(shops::food)),
    ("phone-book", solved!(shops::contact)),
    ("read-table", solved!(reading::table)),
    ("read-table-2", solved!(reading::table_2)),
    ("resize-textarea", Unsolved(HANDLE)),
    ("right-angle", Unsolved(PICTURE)),
    ("scroll-text", solved!(reading::last_word)),
    ("scroll-text-2", solved!(reading::scroll_area)),
    ("search-engine", solved!(shops::search)),
    ("sign-agreement", solved!(reading::sign)),
    ("simon-says", Unsolved(MOTION)),
    ("simple-algebra", solved!(reading::algebra)),
    ("simple-arithmetic", solved!(reading::sum)),
    ("social-media", solved!(social::one)),
    ("social-media-all", solved!(social::several)),
    ("social-media-some", solved!(social::several)),
    ("stock-market", solved!(reading::stock)),
    ("terminal", solved!(reading::terminal)),
    ("text-editor", solved!(text::style)),
    ("text-transform", solved!(reading::turned_letters)),
    ("tic-tac-toe", Unsolved(LUCK)),
    ("unicode-test", solved!(clicks::named_button)),
    ("use-autocomplete", solved!(forms::autocomplete)),
    ("use-autocomplete-nodelay", solved!(forms::autocomplete)),
    ("use-colorwheel", Unsolved(COLOUR)),
    ("use-colorwheel-2", Unsolved(PICTURE)),
    ("use-slider", solved!(forms::slider)),
    ("use-slider-2", solved!(forms::sliders)),
    ("use-spinner", solved!(forms::spinner)),
    ("visual-addition", solved!(reading::blocks)),
];
