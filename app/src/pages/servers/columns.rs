//! The columns of the table: which there are, and how this browser wants them. Pure.

use crate::json;
use serde::{Deserialize, Serialize};
use wire::{ServerRow, SortKey};

/// A column; the box and the server's name always come first, then the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Column {
    Name,
    State,
    Ops,
    Namespace,
    Set,
    Players,
    Image,
    Node,
    Restarts,
    Age,
    DeletionPriority,
    UpdatePriority,
    Revision,
    Ip,
    Network,
    Labels,
}

impl Column {
    /// Every column in the order of a browser that never chose.
    pub const ALL: [Self; 16] = [
        Self::Name,
        Self::State,
        Self::Ops,
        Self::Players,
        Self::Image,
        Self::Node,
        Self::Restarts,
        Self::Age,
        Self::Namespace,
        Self::Set,
        Self::DeletionPriority,
        Self::UpdatePriority,
        Self::Revision,
        Self::Ip,
        Self::Network,
        Self::Labels,
    ];

    /// Columns that stay at the left edge and cannot be moved or hidden.
    pub fn fixed(self) -> bool {
        matches!(self, Self::Name | Self::State)
    }

    /// Whether a browser that never chose shows it.
    fn shown_at_first(self) -> bool {
        !matches!(
            self,
            Self::Set
                | Self::DeletionPriority
                | Self::UpdatePriority
                | Self::Revision
                | Self::Ip
                | Self::Network
                | Self::Labels
        )
    }

    /// Locale key of its name.
    pub fn key(self) -> &'static str {
        match self {
            Self::Name => "servers.column.name",
            Self::State => "servers.column.state",
            Self::Ops => "servers.column.ops",
            Self::Namespace => "servers.column.ns",
            Self::Set => "servers.column.set",
            Self::Players => "servers.column.players",
            Self::Image => "servers.column.image",
            Self::Node => "servers.column.node",
            Self::Restarts => "servers.column.restarts",
            Self::Age => "servers.column.age",
            Self::DeletionPriority => "servers.column.dp",
            Self::UpdatePriority => "servers.column.up",
            Self::Revision => "servers.column.rev",
            Self::Ip => "servers.column.ip",
            Self::Network => "servers.column.network",
            Self::Labels => "servers.column.labels",
        }
    }

    /// What the server can sort by.
    pub fn sort(self) -> Option<SortKey> {
        match self {
            Self::Name => Some(SortKey::Name),
            Self::State => Some(SortKey::State),
            Self::Ops => Some(SortKey::Ops),
            Self::Players => Some(SortKey::Players),
            Self::Image => Some(SortKey::Image),
            Self::Node => Some(SortKey::Node),
            Self::Restarts => Some(SortKey::Restarts),
            Self::Age => Some(SortKey::Age),
            Self::DeletionPriority => Some(SortKey::Dp),
            Self::UpdatePriority => Some(SortKey::Up),
            Self::Revision => Some(SortKey::Rev),
            Self::Ip => Some(SortKey::Ip),
            Self::Namespace | Self::Set | Self::Network | Self::Labels => None,
        }
    }

    /// Whether it is read from the right, as numbers are.
    pub fn numeric(self) -> bool {
        matches!(
            self,
            Self::Players | Self::Restarts | Self::Age | Self::DeletionPriority | Self::UpdatePriority
        )
    }

    /// Width in pixels of a browser that never chose.
    pub fn width(self) -> u32 {
        match self {
            Self::Name => 200,
            Self::State => 100,
            Self::Ops => 150,
            Self::Image => 208,
            Self::Node | Self::Set | Self::Ip | Self::Revision | Self::Network => 120,
            Self::Players | Self::Restarts | Self::Age => 76,
            Self::Namespace => 94,
            Self::DeletionPriority | Self::UpdatePriority => 92,
            Self::Labels => 220,
        }
    }

    /// Whether a change between two rows shows in it.
    pub fn differs(self, old: &ServerRow, new: &ServerRow) -> bool {
        match self {
            // Identity and age do not change; time passing is no news.
            Self::Name | Self::Namespace | Self::Age => false,
            Self::State => old.state != new.state,
            Self::Ops => old.ops != new.ops,
            Self::Set => old.set != new.set,
            Self::Players => old.players != new.players,
            Self::Image => {
                let images =
                    |row: &ServerRow| row.containers.iter().map(|c| c.image.clone()).collect::<Vec<_>>();
                images(old) != images(new)
            }
            Self::Node => old.node != new.node,
            Self::Restarts => old.restarts != new.restarts,
            Self::DeletionPriority => old.deletion_priority != new.deletion_priority,
            Self::UpdatePriority => old.update_priority != new.update_priority,
            Self::Revision => old.revision != new.revision,
            Self::Ip => old.ip != new.ip,
            Self::Network => (old.network_disabled, &old.network) != (new.network_disabled, &new.network),
            Self::Labels => old.labels != new.labels,
        }
    }

    /// Its bit in a set of columns.
    pub fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The columns that differ between two rows, as bits.
pub fn changed_columns(old: &ServerRow, new: &ServerRow) -> u32 {
    Column::ALL.iter().filter(|column| column.differs(old, new)).map(|column| column.bit()).sum()
}

/// Narrowest and widest column, pixels.
pub const WIDTHS: (u32, u32) = (48, 800);

/// One column as this browser wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Which.
    pub column: Column,
    /// Whether it shows.
    pub shown: bool,
    /// Width in pixels.
    pub width: u32,
}

/// All columns in the order of this browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout(Vec<Wanted>);

impl Default for Layout {
    fn default() -> Self {
        let wanted =
            |column: Column| Wanted { column, shown: column.shown_at_first(), width: column.width() };
        Self(Column::ALL.into_iter().map(wanted).collect())
    }
}

impl Layout {
    /// Reads what was kept; columns that are new since then come last, unknown ones are passed over, and fixed ones
    /// stand where they must.
    pub fn read(text: &str) -> Self {
        let mut columns: Vec<Wanted> = Vec::new();
        for wanted in json::read_each::<Wanted>(text) {
            if !columns.iter().any(|other| other.column == wanted.column) {
                columns.push(Wanted { width: wanted.width.clamp(WIDTHS.0, WIDTHS.1), ..wanted });
            }
        }
        for wanted in Self::default().0 {
            if !columns.iter().any(|other| other.column == wanted.column) {
                columns.push(wanted);
            }
        }
        for wanted in &mut columns {
            wanted.shown |= wanted.column.fixed();
        }
        columns.sort_by_key(|wanted| match wanted.column {
            Column::Name => 0,
            Column::State => 1,
            _ => 2,
        });
        Self(columns)
    }

    /// The text to keep.
    pub fn text(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// All columns in order.
    pub fn all(&self) -> &[Wanted] {
        &self.0
    }

    /// The columns that show, in order.
    pub fn shown(&self) -> Vec<Column> {
        self.0.iter().filter(|wanted| wanted.shown).map(|wanted| wanted.column).collect()
    }

    /// The width of a column in pixels.
    pub fn width_of(&self, column: Column) -> u32 {
        self.0.iter().find(|wanted| wanted.column == column).map_or(column.width(), |wanted| wanted.width)
    }

    /// Shows or hides a column.
    pub fn show(&mut self, column: Column, shown: bool) {
        if let Some(wanted) = self.0.iter_mut().find(|wanted| wanted.column == column && !column.fixed()) {
            wanted.shown = shown;
        }
    }

    /// Sets a width, within [`WIDTHS`].
    pub fn resize(&mut self, column: Column, width: u32) {
        if let Some(wanted) = self.0.iter_mut().find(|wanted| wanted.column == column) {
            wanted.width = width.clamp(WIDTHS.0, WIDTHS.1);
        }
    }

    /// Moves a column one place towards the left or the right, past hidden ones too; fixed ones stay.
    pub fn shift(&mut self, column: Column, right: bool) {
        let Some(at) = self.0.iter().position(|wanted| wanted.column == column) else { return };
        let to = if right { at + 1 } else { at.wrapping_sub(1) };
        let free = |at: usize| self.0.get(at).is_some_and(|wanted| !wanted.column.fixed());
        if free(at) && free(to) {
            self.0.swap(at, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_comes_back() {
        let mut layout = Layout::default();
        layout.show(Column::Labels, true);
        layout.show(Column::Image, false);
        layout.resize(Column::Node, 5000);
        layout.shift(Column::Players, false);
        let back = Layout::read(&layout.text());
        assert_eq!(back, layout);
        assert_eq!(back.shown()[..4], [Column::Name, Column::State, Column::Players, Column::Ops]);
        assert_eq!(back.width_of(Column::Node), WIDTHS.1);
    }

    #[test]
    fn name_and_state_stay_where_they_are() {
        let mut layout = Layout::default();
        layout.show(Column::State, false);
        layout.shift(Column::Ops, false);
        layout.shift(Column::Name, true);
        assert_eq!(layout.shown()[..3], [Column::Name, Column::State, Column::Ops]);
        let odd = r#"[{"column":"ops","shown":true,"width":1},{"column":"name","shown":false,"width":90},{"column":"gone","shown":true,"width":9}]"#;
        let read = Layout::read(odd);
        assert_eq!(read.shown()[..3], [Column::Name, Column::State, Column::Ops]);
        assert_eq!((read.width_of(Column::Ops), read.all().len()), (WIDTHS.0, Column::ALL.len()));
    }

    #[test]
    fn nonsense_is_the_first_layout() {
        for text in ["", "{}", "[1,2]", "null"] {
            assert_eq!(Layout::read(text), Layout::default(), "{text}");
        }
    }

    #[test]
    fn bits_are_distinct() {
        let all = Column::ALL.iter().fold(0, |bits, column| bits | column.bit());
        assert_eq!(all.count_ones() as usize, Column::ALL.len());
    }
}
