//! Which caller waits for which reply.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Open requests by id. Clones share the same table.
///
/// An entry leaves the table when it is answered, when its [`Waiting`] is dropped, or when the table
/// is [closed](Pending::close); a late or repeated answer finds nothing and is reported as such.
#[derive(Debug)]
pub struct Pending<K: Eq + Hash + Clone, V> {
    shared: Arc<Mutex<Table<K, V>>>,
}

#[derive(Debug)]
struct Table<K, V> {
    open: HashMap<K, oneshot::Sender<V>>,
    closed: bool,
}

impl<K: Eq + Hash + Clone, V> Clone for Pending<K, V> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<K: Eq + Hash + Clone, V> Default for Pending<K, V> {
    fn default() -> Self {
        Self { shared: Arc::new(Mutex::new(Table { open: HashMap::new(), closed: false })) }
    }
}

impl<K: Eq + Hash + Clone, V> Pending<K, V> {
    // A panic while the lock is held leaves the map whole: every critical section is one map operation.
    fn table(&self) -> MutexGuard<'_, Table<K, V>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a request under `id`. On a closed table the returned [`Waiting`] resolves to `None` at once.
    pub fn open(&self, id: K) -> Waiting<K, V> {
        let (sender, receiver) = oneshot::channel();
        let mut table = self.table();
        if !table.closed {
            table.open.insert(id.clone(), sender);
        }
        drop(table);
        Waiting { id, receiver, pending: self.clone() }
    }

    /// Hands `value` to whoever waits for `id`; gives it back when nobody does.
    pub fn answer(&self, id: &K, value: V) -> Result<(), V> {
        match self.table().open.remove(id) {
            Some(sender) => sender.send(value),
            None => Err(value),
        }
    }

    /// Ends every open request without an answer and refuses new ones.
    pub fn close(&self) {
        let mut table = self.table();
        table.closed = true;
        table.open.clear();
    }

    /// How many requests are open.
    pub fn len(&self) -> usize {
        self.table().open.len()
    }

    /// Whether no request is open.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The caller's half of one request. Dropping it removes the request.
#[derive(Debug)]
pub struct Waiting<K: Eq + Hash + Clone, V> {
    id: K,
    receiver: oneshot::Receiver<V>,
    pending: Pending<K, V>,
}

impl<K: Eq + Hash + Clone, V> Waiting<K, V> {
    /// The answer, or `None` when the table was closed.
    ///
    /// # Cancel safety
    /// Dropping the future, or the `Waiting`, removes the request; a late answer is then refused.
    pub async fn answer(&mut self) -> Option<V> {
        (&mut self.receiver).await.ok()
    }
}

impl<K: Eq + Hash + Clone, V> Drop for Waiting<K, V> {
    fn drop(&mut self) {
        self.pending.table().open.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answer_reaches_its_caller_once() {
        let pending = Pending::default();
        let mut first = pending.open(1);
        let mut second = pending.open(2);
        assert_eq!(pending.answer(&2, "two"), Ok(()));
        assert_eq!(pending.answer(&1, "one"), Ok(()));
        assert_eq!(pending.answer(&1, "again"), Err("again"));
        assert_eq!(first.answer().await, Some("one"));
        assert_eq!(second.answer().await, Some("two"));
        assert!(pending.is_empty());
    }

    #[tokio::test]
    async fn dropped_caller_leaves_nothing_behind() {
        let pending = Pending::default();
        drop(pending.open(1));
        assert!(pending.is_empty());
        assert_eq!(pending.answer(&1, ()), Err(()));
    }

    #[tokio::test]
    async fn close_ends_every_open_request_and_refuses_new_ones() {
        let pending: Pending<u8, ()> = Pending::default();
        let mut open = pending.open(1);
        pending.close();
        assert_eq!(open.answer().await, None);
        assert_eq!(pending.open(2).answer().await, None);
        assert!(pending.is_empty());
    }
}
