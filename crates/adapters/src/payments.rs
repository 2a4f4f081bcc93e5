//! Payment providers. So far the simulator that sandbox organisations pay with.

mod test_processor;

pub use test_processor::TestProcessor;
