//! Mutations of files that keep their structure: chunks of a PNG, entries of a TIFF directory, attributes of an OpenEXR
//! header, segments of a JPEG, tokens of a text. Unlike changed bytes, they get past checksums and lengths and so reach
//! the code behind them.

use super::numbers::Numbers;

/// Numbers that readers are likely to multiply, allocate or index with.
const TRICKY: [u32; 14] =
    [0, 1, 2, 3, 4, 7, 255, 256, 65_535, 65_536, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, 0xFFFF_FFFF];

/// Numbers as texts spell them.
const TRICKY_TEXT: [&str; 20] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "1e39",
    "-3.5e38",
    "1e309",
    "-1e400",
    "nan",
    "inf",
    "-inf",
    "4294967296",
    "99999999999",
    "18446744073709551616",
    "1e-320",
    "",
    "null",
    "[]",
    "\"\\ud800\"",
];

/// The file after up to four structural mutations, or after changes of single bytes if its structure is unknown.
pub fn mutated(name: &str, file: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=numbers.below(4) {
        bytes = match name.rsplit('.').next().unwrap_or_default() {
            "png" => mutated_png(&bytes, numbers),
            "tif" => mutated_tiff(&bytes, numbers),
            "exr" => mutated_exr(&bytes, numbers),
            "jpg" => mutated_jpeg(&bytes, numbers),
            "bmp" | "tga" => mutated_header(&bytes, numbers),
            "json" | "asc" | "pgm" => mutated_text(&bytes, numbers),
            _ => None,
        }
        .unwrap_or_else(|| changed_bytes(&bytes, numbers));
    }
    bytes
}

/// Replaces, inserts or removes single bytes, or truncates.
pub fn changed_bytes(file: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = file.to_vec();
    // Two thirds of the changes are in the header, where most bugs are.
    let reach = if numbers.below(3) > 0 { bytes.len().min(120) } else { bytes.len() };
    let at = numbers.below(reach);
    match numbers.below(6) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at.min(file.len()), numbers.byte()),
        2 if at < bytes.len() => drop(bytes.remove(at)),
        3 if at < bytes.len() => bytes[at] ^= 1 << numbers.below(8),
        4 => {
            let tricky = numbers.pick(&TRICKY).to_be_bytes();
            bytes.iter_mut().skip(at).zip(tricky).for_each(|(byte, new)| *byte = new);
        }
        _ if at < bytes.len() => bytes[at] = numbers.byte(),
        _ => {}
    }
    bytes
}

/// Removes, repeats, swaps, shortens, lengthens or changes one of the parts.
fn mutate_parts(parts: &mut Vec<Vec<u8>>, numbers: &mut Numbers) -> Option<()> {
    let at = numbers.below(parts.len());
    let other = numbers.below(parts.len());
    let part = parts.get_mut(at)?;
    match numbers.below(7) {
        0 => drop(parts.remove(at)),
        1 => {
            let copy = part.clone();
            parts.insert(other, copy);
        }
        2 => parts.swap(at, other),
        3 => part.truncate(numbers.below(part.len())),
        4 => part.resize(part.len() + 1 + numbers.below(1024), numbers.byte()),
        _ => *part = changed_bytes(part, numbers),
    }
    Some(())
}

/// Mutates a chunk; the lengths and checksums are those of the new chunks.
fn mutated_png(file: &[u8], numbers: &mut Numbers) -> Option<Vec<u8>> {
    const NAMES: [&[u8; 4]; 12] =
        [b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"iCCP", b"sBIT", b"acTL", b"fcTL", b"fdAT", b"zTXt"];
    let (signature, mut rest) = file.split_at_checked(8)?;
    // Name and data of each chunk.
    let mut chunks: Vec<Vec<u8>> = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        chunks.push(after.get(..length + 4)?.to_vec());
        rest = after.get(length + 8..)?;
    }
    match numbers.below(4) {
        // A field of the header: width, height, bit depth, colour type, compression, filter, interlacing.
        0 => {
            let header = chunks.first_mut()?.get_mut(4..17)?;
            match numbers.below(7) {
                side @ 0..2 => header[side * 4..][..4].copy_from_slice(&numbers.pick(&TRICKY).to_be_bytes()),
                field => header[field + 6] = *numbers.pick(&[0, 1, 2, 3, 4, 6, 8, 16, 32]),
            }
        }
        1 => {
            let mut chunk = numbers.pick(&NAMES).to_vec();
            let length = *numbers.pick(&[0, 1, 2, 3, 4, 6, 13, 26, 255, 768, 769]);
            chunk.extend((0..length).map(|_| numbers.byte()));
            let at = (1 + numbers.below(chunks.len())).min(chunks.len());
            chunks.insert(at, chunk);
        }
        _ => mutate_parts(&mut chunks, numbers)?,
    }
    let mut bytes = signature.to_vec();
    for chunk in chunks.iter().filter(|chunk| chunk.len() >= 4) {
        bytes.extend(((chunk.len() - 4) as u32).to_be_bytes());
        bytes.extend(chunk);
        bytes.extend(crc32(chunk).to_be_bytes());
    }
    Some(bytes)
}

/// The checksum of a PNG chunk (PNG specification, third edition, annex D).
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

/// Mutates an entry of the first directory of a little-endian TIFF in place.
fn mutated_tiff(file: &[u8], numbers: &mut Numbers) -> Option<Vec<u8>> {
    // Tags that change how the rest is read: sizes, bits, compression, strips, tiles, predictor, sample format.
    const TAGS: [u16; 18] = [256, 257, 258, 259, 262, 266, 273, 277, 278, 279, 284, 317, 320, 322, 323, 324, 338, 339];
    let mut bytes = file.to_vec();
    if !file.starts_with(b"II*\0") {
        return None;
    }
    let directory = u32::from_le_bytes(*file.get(4..)?.first_chunk()?) as usize;
    let count = usize::from(u16::from_le_bytes(*file.get(directory..)?.first_chunk()?));
    let end = directory + 2 + count * 12;
    let at = directory + 2 + numbers.below(count) * 12;
    let entry = bytes.get_mut(at..at + 12)?;
    match numbers.below(7) {
        0 => entry[..2].copy_from_slice(&numbers.pick(&TAGS).to_le_bytes()),
        1 => entry[2..4].copy_from_slice(&(numbers.below(20) as u16).to_le_bytes()),
        2 => entry[4..8].copy_from_slice(&numbers.pick(&TRICKY).to_le_bytes()),
        3 | 4 => entry[8..12].copy_from_slice(&numbers.pick(&TRICKY).to_le_bytes()),
        5 => entry[8..10].copy_from_slice(&(numbers.below(70) as u16).to_le_bytes()),
        // The directory that follows, which may be this one.
        _ => bytes.get_mut(end..end + 4)?.copy_from_slice(&(directory as u32).to_le_bytes()),
    }
    Some(bytes)
}

/// Mutates an attribute of the header of an OpenEXR file; its length is that of the new value, or wrong.
fn mutated_exr(file: &[u8], numbers: &mut Numbers) -> Option<Vec<u8>> {
    let (head, mut rest) = file.split_at_checked(8)?;
    // Name with type, and value.
    let mut attributes: Vec<[Vec<u8>; 2]> = Vec::new();
    while rest.first() != Some(&0) {
        let mut zeros = rest.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at);
        let named = zeros.nth(1)? + 1;
        let length = u32::from_le_bytes(*rest.get(named..)?.first_chunk()?) as usize;
        let value = rest.get(named + 4..)?.get(..length)?;
        attributes.push([rest[..named].to_vec(), value.to_vec()]);
        rest = &rest[named + 4 + length..];
    }
    if attributes.is_empty() {
        return None;
    }
    let at = numbers.below(attributes.len());
    let mut wrong_length = None;
    match numbers.below(6) {
        0 => drop(attributes.remove(at)),
        1 => attributes.push(attributes.get(at)?.clone()),
        2 => wrong_length = Some((at, *numbers.pick(&TRICKY))),
        // The table of offsets and the pixels.
        3 => rest = &rest[..numbers.below(rest.len())],
        _ => {
            let value = &mut attributes.get_mut(at)?[1];
            let word = numbers.below(value.len() / 4) * 4;
            let tricky = numbers.pick(&TRICKY).to_le_bytes();
            value.iter_mut().skip(word).zip(tricky).for_each(|(byte, new)| *byte = new);
        }
    }
    let mut bytes = head.to_vec();
    for (i, [name, value]) in attributes.iter().enumerate() {
        let length = wrong_length.filter(|(at, _)| *at == i).map_or(value.len() as u32, |(_, length)| length);
        bytes.extend(name);
        bytes.extend(length.to_le_bytes());
        bytes.extend(value);
    }
    bytes.extend(rest);
    Some(bytes)
}

/// Mutates a segment of a JPEG; its length is that of the new segment.
fn mutated_jpeg(file: &[u8], numbers: &mut Numbers) -> Option<Vec<u8>> {
    let mut rest = file.get(2..)?;
    // Marker and data of each segment up to the compressed pixels.
    let mut segments: Vec<Vec<u8>> = Vec::new();
    while rest.first() == Some(&0xFF) && rest.get(1) != Some(&0xDA) {
        let length = usize::from(u16::from_be_bytes(*rest.get(2..)?.first_chunk()?));
        let mut segment = rest[..2].to_vec();
        segment.extend(rest.get(4..length + 2)?);
        segments.push(segment);
        rest = &rest[length + 2..];
    }
    mutate_parts(&mut segments, numbers)?;
    let mut bytes = file[..2].to_vec();
    for segment in segments.iter().filter(|segment| segment.len() >= 2) {
        bytes.extend(&segment[..2]);
        bytes.extend((segment.len() as u16).to_be_bytes());
        bytes.extend(&segment[2..]);
    }
    bytes.extend(rest);
    Some(bytes)
}

/// Puts a tricky number on a field of a header of 16-bit or 32-bit fields.
fn mutated_header(file: &[u8], numbers: &mut Numbers) -> Option<Vec<u8>> {
    let mut bytes = file.to_vec();
    let at = numbers.below(27) * 2;
    let tricky = numbers.pick(&TRICKY).to_le_bytes();
    let width = *numbers.pick(&[1, 2, 4]);
    bytes.get_mut(at..at + width)?.copy_from_slice(&tricky[..width]);
    Some(bytes)
}

/// Replaces, removes, repeats or swaps a token of a text.
fn mutated_text(file: &[u8], numbers: &mut Numbers) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(file).ok()?;
    let mut tokens: Vec<&str> = text.split_inclusive([' ', '\n', ',', ':', '[', ']', '{', '}']).collect();
    let at = numbers.below(tokens.len());
    let other = numbers.below(tokens.len());
    let token = *tokens.get(at)?;
    match numbers.below(6) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(other, token),
        2 => tokens.swap(at, other),
        _ => {
            let separator = token.char_indices().last().map_or("", |(last, _)| &token[last..]);
            tokens.splice(at..=at, [*numbers.pick(&TRICKY_TEXT), separator]);
        }
    }
    Some(tokens.concat().into_bytes())
}
