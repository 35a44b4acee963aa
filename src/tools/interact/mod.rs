//! Acting on single elements.

mod check_index;
mod clear_index;
mod click_element;
mod click_index;
mod drag;
mod fill_input;
mod focus_index;
mod handle_dialog;
mod hover;
mod hover_index;
mod pick_option;
mod press_key;
mod press_keys;
mod scroll;
mod select_index;
mod select_option;
mod set_radio_index;
mod type_index;
mod upload_index;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[
    &click_index::ClickIndex,
    &type_index::TypeIndex,
    &clear_index::ClearIndex,
    &focus_index::FocusIndex,
    &select_index::SelectIndex,
    &pick_option::PickOption,
    &check_index::CheckIndex,
    &upload_index::UploadIndex,
    &press_key::PressKey,
    &press_keys::PressKeys,
    &hover_index::HoverIndex,
    &drag::Drag,
    &scroll::Scroll,
    &handle_dialog::HandleDialog,
    &set_radio_index::SetRadioIndex,
    &click_element::ClickElement,
    &fill_input::FillInput,
    &select_option::SelectOption,
    &hover::Hover,
];
