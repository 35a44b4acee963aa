//! Pictures of a tab.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::draw::{Area, DrawError, Picture};
use super::marks::Mark;
use super::refusal::ActError;
use super::view::ViewError;

/// Pixels of the picture that the model sees: more is scaled down by models anyway, and paid for.
const MODEL_PIXELS: f64 = 1_150_000.0;

/// The longer side of the picture that the model sees.
const MODEL_SIDE: f64 = 1_568.0;

/// A page that is looked at more slowly is not looked at again after the picture was taken.
const LOOKS_TWICE: Duration = Duration::from_millis(400);

/// JPEG quality, percent.
const QUALITY: u8 = 85;

/// A picture of what the tab shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// JPEG of the viewport in device pixels.
    pub full: Vec<u8>,
    /// The same, small enough for the model, base64.
    pub small: String,
    /// Width of `small`, px.
    pub width: u32,
    /// Height of `small`, px.
    pub height: u32,
    /// Pixels of `small` per CSS px of the page.
    pub scale: f64,
}

/// A picture with numbers in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Marked {
    /// The picture.
    pub capture: Capture,
    /// The numbers in it.
    pub numbers: Vec<u32>,
    /// Nothing moved while the picture was taken.
    pub unmoved: bool,
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Jpeg,
    Png,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    css_visual_viewport: Viewport,
    visual_viewport: Viewport,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Viewport {
    page_x: f64,
    page_y: f64,
    client_width: f64,
    client_height: f64,
}

impl Browser {
    /// Takes a picture of what the tab shows now.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn capture(&self, cancel: &CancellationToken) -> Result<Capture, ActError> {
        let target = self.target(cancel).await?;
        let Metrics { css_visual_viewport: view, visual_viewport } = self.metrics(cancel, &target).await?;
        let (width, height) = (view.client_width.max(1.0), view.client_height.max(1.0));
        let density = (visual_viewport.client_width / width).max(0.1);
        let factor = shrink(width * density, height * density);
        let full = self.shoot(cancel, &target, Format::Jpeg, None).await?;
        let small = if factor < 1.0 {
            self.shoot(cancel, &target, Format::Jpeg, Some(clip(&view, factor))).await?
        } else {
            full.clone()
        };
        let full = decoded(&full)?;
        let size = STANDARD.decode(small.as_bytes()).ok().and_then(|bytes| jpeg_size(&bytes));
        let (pixels_x, pixels_y) = size.unwrap_or((whole(width * density), whole(height * density)));
        // Without a clip the scroll bars are in the picture, too.
        let scale = if factor < 1.0 { f64::from(pixels_x) / width } else { density };
        Ok(Capture { full, small, width: pixels_x, height: pixels_y, scale })
    }

    /// Takes a picture of what the tab shows now, with the numbers of the page view beside their elements. Nothing
    /// is drawn in the page. `full` is empty.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn capture_marked(&self, cancel: &CancellationToken) -> Result<Marked, ActError> {
        let target = self.target(cancel).await?;
        let started = Instant::now();
        let marks = self.marks(cancel).await?;
        let quick = started.elapsed() < LOOKS_TWICE;
        let Metrics { css_visual_viewport: view, visual_viewport } = self.metrics(cancel, &target).await?;
        let (width, height) = (view.client_width.max(1.0), view.client_height.max(1.0));
        let density = (visual_viewport.client_width / width).max(0.1);
        let factor = shrink(width * density, height * density);
        let part = (factor < 1.0).then(|| clip(&view, factor));
        let shot = self.shoot(cancel, &target, Format::Png, part).await?;
        let unmoved = !quick || self.marks(cancel).await? == marks;
        let drawn = tokio::task::spawn_blocking(move || draw(&shot, &marks, (width, height), density)).await;
        let (capture, numbers) = match drawn {
            Ok(drawn) => drawn?,
            Err(error) => return Err(unreadable(error.to_string()).into()),
        };
        Ok(Marked { capture, numbers, unmoved })
    }

    async fn target(&self, cancel: &CancellationToken) -> Result<Target, ActError> {
        Ok(Target::tab(self.tab(cancel).await?.ok_or(ViewError::NoTab)?))
    }

    async fn metrics(&self, cancel: &CancellationToken, target: &Target) -> Result<Metrics, CdpError> {
        let metrics = self.context.cdp(cancel, target, "Page.getLayoutMetrics", json!({})).await?;
        serde_json::from_value(metrics).map_err(|error| CdpError::Malformed {
            method: "Page.getLayoutMetrics".to_owned(),
            detail: error.to_string(),
        })
    }

    async fn shoot(
        &self,
        cancel: &CancellationToken,
        target: &Target,
        format: Format,
        clip: Option<Value>,
    ) -> Result<String, CdpError> {
        let mut params = match format {
            Format::Jpeg => json!({ "format": "jpeg", "quality": QUALITY }),
            // Squeezing harder takes longer and nobody keeps it.
            Format::Png => json!({ "format": "png", "optimizeForSpeed": true }),
        };
        if let Some(clip) = clip {
            params["clip"] = clip;
        }
        let mut shot = self.context.cdp(cancel, target, "Page.captureScreenshot", params).await?;
        match shot.get_mut("data").map(Value::take) {
            Some(Value::String(data)) => Ok(data),
            _ => Err(CdpError::Malformed {
                method: "Page.captureScreenshot".to_owned(),
                detail: "no `data`".to_owned(),
            }),
        }
    }
}

fn clip(view: &Viewport, factor: f64) -> Value {
    json!({
        "x": view.page_x,
        "y": view.page_y,
        "width": view.client_width.max(1.0),
        "height": view.client_height.max(1.0),
        "scale": factor,
    })
}

fn decoded(base64: &str) -> Result<Vec<u8>, CdpError> {
    STANDARD.decode(base64.as_bytes()).map_err(|error| unreadable(error.to_string()))
}

fn unreadable(detail: String) -> CdpError {
    CdpError::Malformed { method: "Page.captureScreenshot".to_owned(), detail }
}

impl From<DrawError> for CdpError {
    fn from(error: DrawError) -> Self {
        unreadable(error.to_string())
    }
}

/// The marks on the picture, and their numbers.
fn draw(
    shot: &str,
    marks: &[Mark],
    (width, height): (f64, f64),
    density: f64,
) -> Result<(Capture, Vec<u32>), CdpError> {
    let mut picture = Picture::read_png(&decoded(shot)?)?;
    // Without a clip the scroll bars are in the picture, too; with one it is smaller.
    let scale = (f64::from(picture.width()) / width).min(density);
    let area = |mark: &Mark| {
        let [left, top, right, bottom] = mark.edges;
        let [left, top] = [left.max(0.0), top.max(0.0)];
        let [right, bottom] = [right.min(width), bottom.min(height)];
        let area = Area {
            left: pixel(left * scale),
            top: pixel(top * scale),
            right: pixel(right * scale),
            bottom: pixel(bottom * scale),
        };
        (right - left >= 1.0 && bottom - top >= 1.0).then_some(area)
    };
    for secret in marks.iter().filter(|mark| mark.secret).filter_map(area) {
        picture.paint_over(secret);
    }
    let open = marks.iter().filter(|mark| !mark.blocked);
    let seen: Vec<(u32, Area)> = open.filter_map(|mark| Some((mark.index, area(mark)?))).collect();
    picture.mark(&seen, if scale >= 1.75 { 3 } else { 2 });
    let small = STANDARD.encode(picture.jpeg()?);
    let numbers = seen.into_iter().map(|(index, _)| index).collect();
    let (width, height) = (picture.width(), picture.height());
    Ok((Capture { full: Vec::new(), small, width, height, scale }, numbers))
}

#[allow(clippy::cast_possible_truncation, reason = "clamped to the range first")]
fn pixel(value: f64) -> i32 {
    value.round().clamp(-100_000.0, 100_000.0) as i32
}

/// By how much a picture of this size must shrink; 1 = not at all.
fn shrink(width: f64, height: f64) -> f64 {
    let by_area = (MODEL_PIXELS / (width * height)).sqrt();
    let by_side = MODEL_SIDE / width.max(height);
    by_area.min(by_side).min(1.0)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range first")]
fn whole(value: f64) -> u32 {
    value.round().clamp(1.0, 100_000.0) as u32
}

/// Width and height from a JPEG's frame header.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [0xff, marker, high, low] = *bytes.get(at..at + 4)? else { return None };
        if matches!(marker, 0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf) {
            let [h1, h2, w1, w2] = *bytes.get(at + 5..at + 9)? else { return None };
            return Some((u32::from(u16::from_be_bytes([w1, w2])), u32::from(u16::from_be_bytes([h1, h2]))));
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_shrink_to_what_the_model_is_given() {
        assert!((shrink(1280.0, 800.0) - 1.0).abs() < f64::EPSILON);
        let factor = shrink(2880.0, 1800.0);
        assert!(2880.0 * factor * 1800.0 * factor <= MODEL_PIXELS + 1.0 && 2880.0 * factor <= MODEL_SIDE);
        assert!(4000.0 * shrink(4000.0, 100.0) <= MODEL_SIDE + 0.5);
    }

    #[test]
    fn jpeg_header_tells_the_size() {
        let mut bytes =
            vec![0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xc0, 0, 17, 8, 0x03, 0x20, 0x05, 0x00, 3];
        assert_eq!(jpeg_size(&bytes), Some((1280, 800)));
        bytes.truncate(12);
        assert_eq!(jpeg_size(&bytes), None);
    }
}
