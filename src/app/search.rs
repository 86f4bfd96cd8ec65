//! How well something fits what was typed.

/// What is typed, in words.
pub(super) fn words(query: &str) -> Vec<String> {
    query.split_whitespace().map(str::to_lowercase).collect()
}

/// How well a thing of that name, key and sentence, in small letters, fits the words, by the worst of them: less is
/// better; `None` where a word does not occur.
pub(super) fn rank(words: &[String], [label, key, doc]: [&str; 3]) -> Option<usize> {
    let rank = |word: &String| {
        let begins = |text: &str| text.split([' ', '-', '_']).any(|part| part.starts_with(word));
        let fits = [label.starts_with(word), begins(label), label.contains(word), key.contains(word), begins(doc)];
        fits.iter().position(|fits| *fits).or_else(|| doc.contains(word).then_some(fits.len()))
    };
    words.iter().map(rank).try_fold(0, |worst, rank| Some(worst.max(rank?)))
}
