//! Pictures of a tab.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::draw::{Area, DrawError, Picture};
use super::extension_context::ExtensionContext;
use super::hidden::{Hidden, hull};
use super::marks::Mark;
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use super::view::ViewError;
use crate::page::function;

/// Pixels of the picture that the model sees: more is scaled down by models anyway, and paid for.
const MODEL_PIXELS: f64 = 1_150_000.0;

/// The longer side of the picture that the model sees.
const MODEL_SIDE: f64 = 1_568.0;

/// A page that is looked at more slowly is not looked at again after the picture was taken.
const LOOKS_TWICE: Duration = Duration::from_millis(400);

/// JPEG quality, percent.
const QUALITY: u8 = 85;

/// Pixels of the picture that is kept as a file.
const KEPT_PIXELS: f64 = 12_000_000.0;

/// CSS px of a page's height that one picture shows.
const LONGEST: f64 = 15_000.0;

/// CSS px around an element for which the window is made larger.
const ROOM: f64 = 80.0;

/// What a picture is taken of.
#[derive(Debug, Clone)]
pub enum Shot {
    /// What the window shows.
    Viewport,
    /// The page from its top to its end.
    FullPage,
    /// One element.
    Element(Box<Element>),
}

/// A picture of what the tab shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// JPEG in device pixels, 12 million at most.
    pub full: Vec<u8>,
    /// The same, small enough for the model, base64.
    pub small: String,
    /// Width of `small`, px.
    pub width: u32,
    /// Height of `small`, px.
    pub height: u32,
    /// Pixels of `small` per CSS px of the page.
    pub scale: f64,
    /// Boxes in it that were painted over.
    pub hidden: usize,
    /// It does not show all of what was asked for.
    pub cut: bool,
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
    css_content_size: Size,
}

#[derive(Debug, Deserialize)]
struct Size {
    height: f64,
}

/// The window has its own size again, also when the call was dropped.
struct Grown {
    context: Arc<ExtensionContext>,
    target: Target,
}

impl Drop for Grown {
    fn drop(&mut self) {
        let (method, params) = self.context.window_again(self.target.tab);
        self.context.tell(&self.target, method, params);
    }
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
    /// Takes a picture. Secret fields are painted over in it, nothing is drawn in the page.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn capture(&self, cancel: &CancellationToken, what: Shot) -> Result<Capture, ActError> {
        let target = self.target(cancel).await?;
        self.open_up(cancel).await?;
        let before = self.metrics(cancel, &target).await?;
        let view = before.css_visual_viewport;
        let seen = |edges: [f64; 4]| {
            edges[0] >= 0.0
                && edges[1] >= 0.0
                && edges[2] <= view.client_width + 1.0
                && edges[3] <= view.client_height + 1.0
        };
        let (edges, grown) = match &what {
            Shot::Viewport => (None, None),
            Shot::FullPage => (None, Some((0.0, before.css_content_size.height))),
            Shot::Element(element) => {
                self.scroll_to(cancel, (**element).clone()).await?;
                let edges = self.place_of(cancel, element).await?;
                let (wide, high) = (edges[2] - edges[0], edges[3] - edges[1]);
                let wide = if wide > view.client_width { wide + edges[0].max(0.0) + ROOM } else { 0.0 };
                let high = (high + ROOM).max(view.client_height);
                (Some(edges), (!seen(edges)).then_some((wide, high)))
            }
        };
        let Some((wide, high)) = grown else {
            return self.capture_part(cancel, &target, edges).await;
        };
        let _back = self.grow(cancel, &target, (wide, high.min(LONGEST))).await?;
        let edges = match &what {
            Shot::Element(element) => {
                self.scroll_to(cancel, (**element).clone()).await?;
                Some(self.place_of(cancel, element).await?)
            }
            _ => None,
        };
        let captured = self.capture_part(cancel, &target, edges).await.map(|mut capture| {
            capture.cut = capture.cut || matches!(what, Shot::FullPage) && high > LONGEST;
            capture
        });
        let (method, params) = self.context.window_again(target.tab);
        self.context.cdp(cancel, &target, method, params).await?;
        // Only a window of the old size can be scrolled to where it was.
        self.call_top::<Value>(cancel, function("drawnAgain"), &[]).await?;
        let place = [json!(view.page_x), json!(view.page_y)];
        self.call_top::<Value>(cancel, function("scrollBack"), &place).await?;
        captured
    }

    /// A picture of a part of what the window shows, of all of it when there is no part.
    async fn capture_part(
        &self,
        cancel: &CancellationToken,
        target: &Target,
        edges: Option<[f64; 4]>,
    ) -> Result<Capture, ActError> {
        let Metrics { css_visual_viewport: view, visual_viewport, .. } = self.metrics(cancel, target).await?;
        let (wide, high) = (view.client_width.max(1.0), view.client_height.max(1.0));
        let density = (visual_viewport.client_width / wide).max(0.1);
        let whole = edges.unwrap_or([0.0, 0.0, wide, high]);
        let part = [whole[0].max(0.0), whole[1].max(0.0), whole[2].min(wide), whole[3].min(high)];
        let (width, height) = (part[2] - part[0], part[3] - part[1]);
        if width < 1.0 || height < 1.0 {
            let error = "The element has no size or lies where nothing is drawn; there is no picture of it.";
            return Err(Refusal::new(Class::Hidden, error).into());
        }
        let cut = whole.iter().zip(part).any(|(all, shown)| (all - shown).abs() > 2.0);
        let shrunk = shrink(width * density, height * density);
        let kept = (KEPT_PIXELS / (width * density * height * density)).sqrt().min(1.0);
        let clip = |factor: f64| {
            json!({ "x": view.page_x + part[0], "y": view.page_y + part[1], "width": width, "height": height,
                "scale": factor })
        };
        let full_clip = (edges.is_some() || kept < 1.0).then(|| clip(kept));
        let mut hidden = self.hidden(cancel).await?;
        for last in [false, false, true] {
            if hidden.is_empty() {
                let full = self.shoot(cancel, target, Format::Jpeg, full_clip.clone()).await?;
                let small = if shrunk < 1.0 {
                    self.shoot(cancel, target, Format::Jpeg, Some(clip(shrunk))).await?
                } else {
                    full.clone()
                };
                let after = self.hidden(cancel).await?;
                if after.is_empty() {
                    return plain(&full, small, (width, density), shrunk, cut);
                }
                hidden = after;
                continue;
            }
            let shot = self.shoot(cancel, target, Format::Png, full_clip.clone()).await?;
            let after = self.hidden(cancel).await?;
            // What does not come to rest is painted over from where it was to where it is.
            if after == hidden || last {
                let boxes = hull(&hidden, &after);
                let painted = tokio::task::spawn_blocking(move || paint(&shot, &boxes, part, density)).await;
                let mut capture = painted.map_err(|error| unreadable(error.to_string()))??;
                capture.cut = cut;
                return Ok(capture);
            }
            hidden = after;
        }
        let error = "The page shows and hides secret fields all the time; no picture was taken.";
        Err(Refusal::new(Class::Timeout, error).into())
    }

    async fn place_of(&self, cancel: &CancellationToken, element: &Element) -> Result<[f64; 4], ActError> {
        let edges: [f64; 4] = element.call(cancel, function("placeOf"), &[]).await?;
        let (left, top) = element.world_to_top(cancel, edges[0], edges[1]).await?;
        let (right, bottom) = element.world_to_top(cancel, edges[2], edges[3]).await?;
        Ok([left, top, right, bottom])
    }

    /// Makes the window that the page sees higher, until the guard is dropped.
    async fn grow(
        &self,
        cancel: &CancellationToken,
        target: &Target,
        (wide, high): (f64, f64),
    ) -> Result<Grown, ActError> {
        let grown = Grown { context: Arc::clone(&self.context), target: target.clone() };
        let unchanged = || json!({ "width": 0, "deviceScaleFactor": 0, "mobile": false });
        let mut size = self.context.given_viewport(target.tab).unwrap_or_else(unchanged);
        size["height"] = json!(whole(high));
        if wide > 0.0 {
            size["width"] = json!(whole(wide));
        }
        self.context.cdp(cancel, target, "Emulation.setDeviceMetricsOverride", size).await?;
        self.call_top::<Value>(cancel, function("drawnAgain"), &[]).await?;
        Ok(grown)
    }

    /// Takes a picture of what the tab shows now, with the numbers of the page view beside their elements. Nothing
    /// is drawn in the page. `full` is empty.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn capture_marked(&self, cancel: &CancellationToken) -> Result<Marked, ActError> {
        let target = self.target(cancel).await?;
        let hidden = self.hidden(cancel).await?;
        let started = Instant::now();
        let marks = self.marks(cancel).await?;
        let quick = started.elapsed() < LOOKS_TWICE;
        let Metrics { css_visual_viewport: view, visual_viewport, .. } =
            self.metrics(cancel, &target).await?;
        let (width, height) = (view.client_width.max(1.0), view.client_height.max(1.0));
        let density = (visual_viewport.client_width / width).max(0.1);
        let factor = shrink(width * density, height * density);
        let part = (factor < 1.0).then(|| clip(&view, factor));
        let shot = self.shoot(cancel, &target, Format::Png, part).await?;
        let unmoved = !quick || self.marks(cancel).await? == marks;
        let hidden = hull(&hidden, &self.hidden(cancel).await?);
        let drawn =
            tokio::task::spawn_blocking(move || draw(&shot, &marks, &hidden, (width, height), density)).await;
        let (capture, numbers) = match drawn {
            Ok(drawn) => drawn?,
            Err(error) => return Err(ActError::from(unreadable(error.to_string()))),
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
    hidden: &[Hidden],
    (width, height): (f64, f64),
    density: f64,
) -> Result<(Capture, Vec<u32>), CdpError> {
    let mut picture = Picture::read_png(&decoded(shot)?)?;
    // Without a clip the scroll bars are in the picture, too; with one it is smaller.
    let scale = (f64::from(picture.width()) / width).min(density);
    let part = [0.0, 0.0, width, height];
    let hidden = cover(&mut picture, hidden, part, scale);
    let open = marks.iter().filter(|mark| !mark.blocked);
    let seen: Vec<(u32, Area)> =
        open.filter_map(|mark| Some((mark.index, area(mark.edges, part, scale)?))).collect();
    picture.mark(&seen, if scale >= 1.75 { 3 } else { 2 });
    let small = STANDARD.encode(picture.jpeg()?);
    let numbers = seen.into_iter().map(|(index, _)| index).collect();
    let (width, height) = (picture.width(), picture.height());
    Ok((Capture { full: Vec::new(), small, width, height, scale, hidden, cut: false }, numbers))
}

/// What of a box of the tab's viewport lies in a part of it, in pixels of the part's picture.
fn area([left, top, right, bottom]: [f64; 4], part: [f64; 4], scale: f64) -> Option<Area> {
    let [left, top] = [left.max(part[0]), top.max(part[1])];
    let [right, bottom] = [right.min(part[2]), bottom.min(part[3])];
    (right - left >= 1.0 && bottom - top >= 1.0).then(|| Area {
        left: pixel((left - part[0]) * scale),
        top: pixel((top - part[1]) * scale),
        right: pixel((right - part[0]) * scale),
        bottom: pixel((bottom - part[1]) * scale),
    })
}

/// Paints over what is hidden; how many boxes of it are in the picture.
fn cover(picture: &mut Picture, hidden: &[Hidden], part: [f64; 4], scale: f64) -> usize {
    let mut count = 0;
    for secret in hidden.iter().filter_map(|hidden| area(hidden.edges, part, scale)) {
        // Edges between two pixels belong to both.
        picture.paint_over(Area {
            left: secret.left - 1,
            top: secret.top - 1,
            right: secret.right + 1,
            bottom: secret.bottom + 1,
        });
        count += 1;
    }
    count
}

/// A picture without anything to hide, as the browser wrote it.
fn plain(
    full: &str,
    small: String,
    (width, density): (f64, f64),
    factor: f64,
    cut: bool,
) -> Result<Capture, ActError> {
    let full = decoded(full)?;
    let bytes = decoded(&small)?;
    let (pixels_x, pixels_y) = jpeg_size(&bytes).ok_or_else(|| unreadable("no size".to_owned()))?;
    // Without a clip the scroll bars are in the picture, too.
    let scale = if factor < 1.0 { f64::from(pixels_x) / width } else { density };
    Ok(Capture { full, small, width: pixels_x, height: pixels_y, scale, hidden: 0, cut })
}

/// A picture in which boxes are painted over, in both sizes.
fn paint(shot: &str, boxes: &[Hidden], part: [f64; 4], density: f64) -> Result<Capture, CdpError> {
    let mut picture = Picture::read_png(&decoded(shot)?)?;
    // Without a clip the scroll bars are in the picture, too; a long one is smaller.
    let scale = (f64::from(picture.width()) / (part[2] - part[0])).min(density);
    let hidden = cover(&mut picture, boxes, part, scale);
    let full = picture.jpeg()?;
    let factor = shrink(f64::from(picture.width()), f64::from(picture.height()));
    let small = if factor < 1.0 { picture.shrunk(factor) } else { picture };
    let (width, height) = (small.width(), small.height());
    let small = STANDARD.encode(small.jpeg()?);
    Ok(Capture { full, small, width, height, scale: scale * factor, hidden, cut: false })
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
