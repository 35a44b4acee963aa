//! The Copilot CLI as an [`AgentBackend`](super::AgentBackend).
