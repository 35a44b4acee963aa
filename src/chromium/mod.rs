//! A Chromium of its own: started with a fresh profile, driven over a pipe.
