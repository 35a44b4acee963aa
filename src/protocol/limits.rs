//! Sizes that the browser's native-messaging port imposes. Measured with Chromium 156.

/// Largest body a host may write, in bytes: one byte more and the browser kills the port.
pub const MAX_OUTBOUND: usize = 1_048_576;

/// Largest body the browser sends, in bytes: a larger message throws in the extension.
pub const MAX_INBOUND: usize = 67_108_864;

/// The protocol number both sides exchange in `hello` and `hello.ack`.
pub const PROTOCOL: u32 = 1;
