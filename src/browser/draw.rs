//! Numbers drawn onto a picture: a frame around each element and its number beside it, where they cover as little of
//! each other as can be.

use jpeg_encoder::{ColorType, Encoder, EncodingError};

/// JPEG quality, percent.
const QUALITY: u8 = 85;

/// Colours of the marks, one after the other, all of them dark enough for white digits.
const COLORS: [[u8; 3]; 6] =
    [[200, 0, 60], [0, 90, 200], [0, 120, 60], [130, 40, 170], [170, 80, 0], [0, 105, 120]];

/// Digits of five by seven dots; a row is a number of five bits.
const DIGITS: [[u8; 7]; 10] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
];

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// The browser's picture cannot be read.
    #[error("the browser's picture cannot be read: {0}")]
    Unreadable(#[from] png::DecodingError),
    /// It is none of the kinds that browsers make.
    #[error("the browser's picture is of an unknown kind")]
    Unknown,
    /// The picture cannot be written.
    #[error("the picture cannot be written: {0}")]
    Unwritable(#[from] EncodingError),
}

/// A box in pixels; right and bottom lie outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Left edge.
    pub left: i32,
    /// Top edge.
    pub top: i32,
    /// Behind the right edge.
    pub right: i32,
    /// Below the bottom edge.
    pub bottom: i32,
}

impl Area {
    fn meets(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_in(self, width: i32, height: i32) -> bool {
        self.left >= 0 && self.top >= 0 && self.right <= width && self.bottom <= height
    }
}

/// Rows of red, green and blue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Picture {
    /// Reads a PNG as browsers write it.
    ///
    /// # Errors
    /// See [`DrawError`].
    pub fn read_png(bytes: &[u8]) -> Result<Self, DrawError> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let mut buffer = vec![0; reader.output_buffer_size().ok_or(DrawError::Unknown)?];
        let info = reader.next_frame(&mut buffer)?;
        buffer.truncate(info.buffer_size());
        let pixels = match info.color_type {
            png::ColorType::Rgb => buffer,
            png::ColorType::Rgba => {
                buffer.chunks_exact(4).flat_map(|pixel| pixel.iter().take(3)).copied().collect()
            }
            _ => return Err(DrawError::Unknown),
        };
        Ok(Self { width: info.width, height: info.height, pixels })
    }

    /// Pixels across.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Pixels down.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// As a JPEG.
    ///
    /// # Errors
    /// See [`DrawError`].
    pub fn jpeg(&self) -> Result<Vec<u8>, DrawError> {
        let mut out = Vec::new();
        let side = |side: u32| u16::try_from(side).map_err(|_| DrawError::Unknown);
        let (width, height) = (side(self.width)?, side(self.height)?);
        Encoder::new(&mut out, QUALITY).encode(&self.pixels, width, height, ColorType::Rgb)?;
        Ok(out)
    }

    /// The same, smaller: every pixel is the mean of those that lie in it. `factor`: above 0, 1 at most.
    pub fn shrunk(&self, factor: f64) -> Self {
        let (wide, high) = (scaled(self.width, factor), scaled(self.height, factor));
        let from = |at: u32, side: u32, all: u32| {
            usize::try_from(u64::from(at) * u64::from(all) / u64::from(side)).unwrap_or(0)
        };
        let width = usize::try_from(self.width).unwrap_or(0);
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for y in 0..high {
            let top = from(y, high, self.height);
            let bottom = from(y + 1, high, self.height).max(top + 1);
            for x in 0..wide {
                let left = from(x, wide, self.width);
                let right = from(x + 1, wide, self.width).max(left + 1);
                let (mut sum, mut count) = ([0_u32; 3], 0);
                for row in top..bottom {
                    let part = self.pixels.get((row * width + left) * 3..(row * width + right) * 3);
                    for pixel in part.into_iter().flat_map(|part| part.chunks_exact(3)) {
                        sum.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += u32::from(*value));
                        count += 1;
                    }
                }
                pixels.extend(sum.map(|sum| u8::try_from(sum / count.max(1)).unwrap_or(u8::MAX)));
            }
        }
        Self { width: wide, height: high, pixels }
    }

    /// Leaves nothing to be read there.
    pub fn paint_over(&mut self, area: Area) {
        self.fill(area, [120; 3]);
    }

    /// Draws a frame and a number for each, in order; `dot`: pixels that one dot of a digit takes.
    pub fn mark(&mut self, marks: &[(u32, Area)], dot: i32) {
        let (width, height) = (whole(self.width), whole(self.height));
        for ((_, area), color) in marks.iter().zip(COLORS.iter().cycle()) {
            self.frame(*area, *color, dot.clamp(1, 2));
        }
        let areas: Vec<Area> = marks.iter().map(|(_, area)| *area).collect();
        let mut labels: Vec<Area> = Vec::new();
        for ((number, area), color) in marks.iter().zip(COLORS.iter().cycle()) {
            let text = number.to_string();
            let label = place(*area, size(&text, dot), &labels, &areas, (width, height));
            labels.push(label);
            self.fill(label, *color);
            self.digits(&text, label, dot);
        }
    }

    fn frame(&mut self, area: Area, color: [u8; 3], thick: i32) {
        let Area { left, top, right, bottom } = area;
        for side in [
            Area { bottom: top + thick, ..area },
            Area { top: bottom - thick, ..area },
            Area { right: left + thick, ..area },
            Area { left: right - thick, ..area },
        ] {
            self.fill(side, color);
        }
    }

    fn digits(&mut self, text: &str, label: Area, dot: i32) {
        let mut left = label.left + 2 * dot;
        for digit in text.bytes().filter(u8::is_ascii_digit) {
            let Some(rows) = DIGITS.get(usize::from(digit - b'0')) else { continue };
            for (row, y) in rows.iter().zip(0..) {
                for x in (0..5).filter(|x| row >> (4 - x) & 1 == 1) {
                    let (left, top) = (left + x * dot, label.top + (y + 2) * dot);
                    self.fill(Area { left, top, right: left + dot, bottom: top + dot }, [255; 3]);
                }
            }
            left += 6 * dot;
        }
    }

    fn fill(&mut self, area: Area, color: [u8; 3]) {
        let within = |value: i32, side: u32| usize::try_from(value.clamp(0, whole(side))).unwrap_or(0);
        let (left, right) = (within(area.left, self.width), within(area.right, self.width));
        let width = usize::try_from(self.width).unwrap_or(0);
        for row in within(area.top, self.height)..within(area.bottom, self.height) {
            let part = self.pixels.get_mut((row * width + left) * 3..(row * width + right.max(left)) * 3);
            for pixel in part.into_iter().flat_map(|part| part.chunks_exact_mut(3)) {
                pixel.copy_from_slice(&color);
            }
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not larger than what it was")]
fn scaled(side: u32, factor: f64) -> u32 {
    (f64::from(side) * factor.clamp(0.0, 1.0)).round().max(1.0) as u32
}

fn whole(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

fn size(text: &str, dot: i32) -> (i32, i32) {
    let digits = i32::try_from(text.len()).unwrap_or(1);
    (dot * (digits * 6 + 3), dot * 11)
}

/// Where a label goes: outside of its element and on nothing else if that can be, on no other label if it can be.
fn place(area: Area, size: (i32, i32), labels: &[Area], areas: &[Area], picture: (i32, i32)) -> Area {
    let Area { left, top, right, bottom } = area;
    let (wide, high) = size;
    let corners = [
        (left, top - high),
        (right - wide, top - high),
        (left - wide, top),
        (right, top),
        (left, bottom),
        (right - wide, bottom),
        (left - wide, bottom - high),
        (right, bottom - high),
        (left, top),
        (right - wide, top),
        (left, bottom - high),
        (right - wide, bottom - high),
        ((left + right - wide) / 2, (top + bottom - high) / 2),
    ];
    let spots = corners.map(|(x, y)| Area { left: x, top: y, right: x + wide, bottom: y + high });
    let fits = |spot: &&Area| spot.is_in(picture.0, picture.1);
    let free = |spot: &&Area| !labels.iter().any(|label| label.meets(**spot));
    let alone = |spot: &&Area| {
        // Boxes around the element lie below everything anyway.
        let holds = |other: &Area| {
            other.left <= left && other.top <= top && other.right >= right && other.bottom >= bottom
        };
        !areas.iter().any(|other| *other != area && !holds(other) && other.meets(**spot))
    };
    let own = Area { left, top, right: left + wide, bottom: top + high };
    let found = spots
        .iter()
        .filter(fits)
        .find(|spot| free(spot) && alone(spot))
        .or_else(|| spots.iter().filter(fits).find(free))
        .copied();
    found.unwrap_or_else(|| {
        let x = own.left.min(picture.0 - wide).max(0);
        let y = own.top.min(picture.1 - high).max(0);
        Area { left: x, top: y, right: x + wide, bottom: y + high }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn white(width: u32, height: u32) -> Picture {
        let pixels = vec![255; usize::try_from(width * height * 3).unwrap()];
        Picture { width, height, pixels }
    }

    fn at(picture: &Picture, x: u32, y: u32) -> [u8; 3] {
        let from = usize::try_from((y * picture.width + x) * 3).unwrap();
        picture.pixels[from..from + 3].try_into().unwrap()
    }

    #[test]
    fn frame_and_number_are_drawn_beside_the_element() {
        let mut picture = white(200, 100);
        picture.mark(&[(7, Area { left: 50, top: 40, right: 120, bottom: 60 })], 2);
        assert_eq!(at(&picture, 50, 50), COLORS[0]);
        assert_eq!(at(&picture, 80, 50), [255; 3], "the element itself stays visible");
        // The label stands above it: its colour, and the white dots of the digit.
        assert_eq!(at(&picture, 50, 39), COLORS[0]);
        assert_eq!(at(&picture, 54, 22), [255; 3]);
    }

    #[test]
    fn nothing_is_left_of_what_is_painted_over() {
        let mut picture = white(20, 20);
        picture.paint_over(Area { left: -5, top: 5, right: 10, bottom: 30 });
        assert_eq!((at(&picture, 0, 5), at(&picture, 9, 19)), ([120; 3], [120; 3]));
        assert_eq!((at(&picture, 10, 5), at(&picture, 0, 4)), ([255; 3], [255; 3]));
    }

    #[test]
    fn labels_cover_neither_each_other_nor_other_elements_where_they_need_not() {
        let area = |left: i32, top: i32| Area { left, top, right: left + 60, bottom: top + 20 };
        let areas: Vec<Area> = (0..6).map(|row| area(100, 60 + row * 24)).collect();
        let mut labels: Vec<Area> = Vec::new();
        for own in &areas {
            let label = place(*own, (18, 22), &labels, &areas, (400, 300));
            assert!(!labels.iter().any(|other| other.meets(label)), "{label:?} in {labels:?}");
            assert!(!areas.iter().any(|other| other.meets(label)), "{label:?}");
            labels.push(label);
        }
    }

    #[test]
    fn mark_at_the_edge_stays_in_the_picture() {
        for area in [
            Area { left: -20, top: -20, right: 5, bottom: 5 },
            Area { left: 190, top: 95, right: 400, bottom: 400 },
            Area { left: 0, top: 0, right: 200, bottom: 100 },
        ] {
            let label = place(area, (30, 22), &[], &[area], (200, 100));
            assert!(label.is_in(200, 100), "{label:?}");
            white(200, 100).mark(&[(12_345, area)], 2);
        }
    }

    #[test]
    fn picture_is_read_and_written() {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 3, 2);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().unwrap().write_image_data(&[9; 24]).unwrap();
        let picture = Picture::read_png(&bytes).unwrap();
        assert_eq!((picture.width(), picture.height(), picture.pixels.len()), (3, 2, 18));
        assert_eq!(picture.jpeg().unwrap()[..2], [0xff, 0xd8]);
        assert!(Picture::read_png(b"GIF89a").is_err());
    }
}
