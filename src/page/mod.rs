//! JavaScript that runs inside pages.
