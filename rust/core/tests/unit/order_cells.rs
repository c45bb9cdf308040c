//! Unit tests of `order/cells.rs`, which includes this file.

use super::*;
use crate::testing::{sample, uniform};

#[test]
fn tasks_hold_every_score_once_and_are_no_larger_than_they_must_be() -> Result<()> {
    let n = 5 * CHUNK + 100;
    let (labels, scores) = sample(n, 0.01, 1e9, &mut uniform(3));
    let problem = Problem::new(labels)?;
    let (n_pos, n_neg) = (problem.n_pos(), problem.n_neg());
    let tops = [0.25, 0.5, 0.75, 1.0].map(|share| (share * n_neg as f64).floor());
    let (mut cells, mut found) = (Cells::default(), vec![0.0; n]);
    cells.gather(&problem, scores[..].into(), &tops, &mut Map::default(), &Ctx::serial())?;
    let classes = [(Class::Positives, n_pos), (Class::Negatives(0.0..tops[3]), n_neg)];
    for (class, size) in classes {
        let tasks = cells.tasks(&class, &mut found);
        let sizes: Vec<Vec<usize>> =
            tasks.iter().map(|task| task.iter().map(|part| part.scores.len()).collect()).collect();
        assert_eq!(sizes.iter().flatten().sum::<usize>(), size);
        for (k, parts) in sizes.iter().enumerate() {
            let (last, all) = (parts[parts.len() - 1], parts.iter().sum::<usize>());
            assert!(all - last < TASK && (all >= TASK || k + 1 == sizes.len()), "{k}: {parts:?}");
        }
        let mut samples: Vec<usize> =
            tasks.iter().flatten().flat_map(|part| part.index.iter().map(|&i| part.from + usize::from(i))).collect();
        samples.sort_unstable();
        samples.dedup();
        assert_eq!(samples.len(), size);
    }
    Ok(())
}

#[test]
fn few_scores_are_held_where_few_are_wanted() -> Result<()> {
    let (labels, scores) = sample(CHUNK, 0.01, 1e9, &mut uniform(3));
    let problem = Problem::new(labels)?;
    let n_neg = problem.n_neg() as f64;
    for (share, most) in [(0.01, CHUNK / 10), (1.0, CHUNK)] {
        let mut cells = Cells::default();
        cells.gather(&problem, scores[..].into(), &[(share * n_neg).floor()], &mut Map::default(), &Ctx::serial())?;
        assert!((most / 10..=most).contains(&cells.chunks[0].scores.capacity()), "{share}");
    }
    Ok(())
}

#[test]
fn ties_with_a_bound_are_collected_in_chunks_up_to_its_index() -> Result<()> {
    let n = 3 * CHUNK;
    let (problem, scores) = (Problem::new((0..n).map(|i| i % 2 == 0).collect())?, vec![0.0; n]);
    for (bound, n_chunks) in [(Some((0.0, CHUNK - 1)), 1), (Some((0.0, CHUNK)), 2), (Some((-1.0, 0)), 3), (None, 3)] {
        let found = Cells::default().collect(&problem, scores[..].into(), bound, &Ctx::serial())?;
        assert_eq!(found, (n_chunks * CHUNK / 2) as f64);
    }
    Ok(())
}

#[test]
fn the_share_of_a_group_is_that_between_the_ranks_of_a_class() {
    let cells = Cells { ends: vec![3.0, 3.0, 5.0], ..Cells::default() };
    let shares = |class: &Class| [0, 1, 2].map(|group| cells.share(class, group));
    assert_eq!(shares(&Class::Negatives(1.5..4.0)), [0.5, 0.0, 0.5]);
    assert_eq!(shares(&Class::Negatives(3.0..9.0)), [0.0, 0.0, 1.0]);
    assert_eq!(shares(&Class::Positives), [1.0; 3]);
    assert_eq!(cells.groups(&Class::Negatives(1.5..4.0)), 0..3);
    assert!(cells.groups(&Class::Negatives(4.0..4.0)).is_empty());
}
