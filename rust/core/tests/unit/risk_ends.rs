//! Unit tests of `risk/ends.rs`, which includes this file.

use super::*;
use crate::Result;

#[test]
fn smoothed_hinges_reach_half_as_many_again_and_32() -> Result<()> {
    let labels: Vec<bool> = (0..1000).map(|i| i < 10).collect();
    for each in [1.0, 0.25] {
        let problem = Problem::weighted(labels.clone(), vec![each; 1000])?;
        let top = 300.0 * each;
        let hinge = Hinge { scale: 1.0, margin: 1.0, top };
        let ends = Ends::new(&problem, RateRange::new(0.0, 0.1)?, Rank::High, &[hinge]);
        assert_eq!(ends.reach(top), top + (top / 2.0).floor() + 32.0 * each);
        assert_eq!(ends.reach(3.0 * each), 3.0 * each + (1.5 * each).floor() + 32.0 * each);
        assert_eq!(ends.reach(900.0 * each), 990.0 * each);
        assert_eq!(ends.tops, [99.0 * each, ends.reach(top)]);
    }
    Ok(())
}
