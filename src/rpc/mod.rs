//! Request and reply bookkeeping that knows nothing of what is being asked.

mod pending;

pub use pending::{Pending, Waiting};
