//! Small components that every page uses: marks, names, times, panels.

mod marks;
mod names;
mod panels;
mod sheet;
mod times;

pub use marks::{Icon, OpsMark, StateDot, StateMark, Tag, TagKind, ops_icon, state_class};
pub use names::{CopyButton, LongName, Reasoned};
pub use panels::{Empty, ErrorPanel, Loading, NoMatch};
pub use sheet::{close, closes_by_itself};
pub use times::{Age, Ago};
