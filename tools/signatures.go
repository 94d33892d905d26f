package tools

import "encoding/binary"

const (
	mimePNG  = "image/png"
	mimeJPEG = "image/jpeg"
	mimeGIF  = "image/gif"
	mimeWebP = "image/webp"
	mimeJava = "application/java-vm"
)

// signature is how files of a format begin.
type signature struct {
	at    int    // where magic stands, in bytes from the start
	magic string // a '?' in it stands for any byte
	sure  bool   // no text begins like this, whether there is a NUL near it or not
	name  string
	mime  string
	hint  string
}

const (
	hintImage   = "read_file shows PNG, JPEG, GIF and WebP: convert it to one of these"
	hintZip     = "its files are read with a program for it, such as unzip (unzip -l lists them)"
	hintTar     = "its files are read with a program for it, such as tar (tar -tf lists them)"
	hintUnpack  = "it is read with a program for it: unpack it into a file, and read that"
	hintProgram = "it is compiled: read the source that it is made from"
	hintMedia   = "read_file cannot show sound and video"
	hintFont    = "read_file cannot show fonts"
)

// signatures are tried in order. Formats that are not here are named by
// [http.DetectContentType].
var signatures = []signature{
	{magic: "\x89PNG\r\n\x1a\n", sure: true, name: "PNG image", mime: mimePNG},
	{magic: "\xff\xd8\xff", sure: true, name: "JPEG image", mime: mimeJPEG},
	{magic: "GIF87a", name: "GIF image", mime: mimeGIF},
	{magic: "GIF89a", name: "GIF image", mime: mimeGIF},
	{magic: "RIFF????WEBP", name: "WebP image", mime: mimeWebP},
	{magic: "II*\x00", sure: true, name: "TIFF image", mime: "image/tiff", hint: hintImage},
	{magic: "MM\x00*", sure: true, name: "TIFF image", mime: "image/tiff", hint: hintImage},
	{magic: "\x00\x00\x01\x00", sure: true, name: "ICO image", mime: "image/x-icon", hint: hintImage},
	{at: 4, magic: "ftyphei", name: "HEIC image", mime: "image/heic", hint: hintImage},
	{at: 4, magic: "ftypmif1", name: "HEIF image", mime: "image/heif", hint: hintImage},
	{at: 4, magic: "ftypavif", name: "AVIF image", mime: "image/avif", hint: hintImage},
	{magic: "8BPS\x00\x01", sure: true, name: "Photoshop image", mime: "image/vnd.adobe.photoshop", hint: hintImage},

	{magic: "%PDF-", sure: true, name: "PDF document", mime: "application/pdf", hint: "its text is read with a program for it, such as pdftotext: convert it to a file, and read that"},
	{magic: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", sure: true, name: "document of an older Office program, or another OLE file", mime: "application/x-ole-storage", hint: "convert it to text with a program for it, and read that"},
	{magic: "SQLite format 3\x00", sure: true, name: "SQLite database", mime: "application/vnd.sqlite3", hint: "it is queried with a program for it, such as sqlite3"},
	{magic: "PAR1", name: "Parquet table", mime: "application/vnd.apache.parquet", hint: "it is queried with a program for it, such as duckdb"},

	{magic: "PK\x03\x04", sure: true, name: "ZIP archive, or a format made of one such as docx, xlsx, jar", mime: "application/zip", hint: hintZip},
	{magic: "PK\x05\x06", sure: true, name: "empty ZIP archive", mime: "application/zip", hint: hintZip},
	{magic: "7z\xbc\xaf\x27\x1c", sure: true, name: "7z archive", mime: "application/x-7z-compressed", hint: hintUnpack},
	{magic: "Rar!\x1a\x07", sure: true, name: "RAR archive", mime: "application/vnd.rar", hint: hintUnpack},
	{at: 257, magic: "ustar", name: "tar archive", mime: "application/x-tar", hint: hintTar},
	{magic: "\x1f\x8b\x08", sure: true, name: "gzip data", mime: "application/gzip", hint: hintUnpack},
	{magic: "BZh?1AY&SY", sure: true, name: "bzip2 data", mime: "application/x-bzip2", hint: hintUnpack},
	{magic: "\xfd7zXZ\x00", sure: true, name: "xz data", mime: "application/x-xz", hint: hintUnpack},
	{magic: "\x28\xb5\x2f\xfd", sure: true, name: "Zstandard data", mime: "application/zstd", hint: hintUnpack},
	{magic: "\x04\x22\x4d\x18", sure: true, name: "LZ4 data", mime: "application/x-lz4", hint: hintUnpack},

	{magic: "\x7fELF", sure: true, name: "ELF program or library", mime: "application/x-elf", hint: hintProgram},
	{magic: "\xcf\xfa\xed\xfe", sure: true, name: "Mach-O program or library", mime: "application/x-mach-binary", hint: hintProgram},
	{magic: "\xce\xfa\xed\xfe", sure: true, name: "Mach-O program or library", mime: "application/x-mach-binary", hint: hintProgram},
	{magic: "\xca\xfe\xba\xbe", sure: true, name: "Java class", mime: mimeJava, hint: hintProgram},
	{magic: "\xca\xfe\xba\xbe", sure: true, name: "Mach-O program or library", mime: "application/x-mach-binary", hint: hintProgram},
	{magic: "MZ", name: "Windows program or library", mime: "application/vnd.microsoft.portable-executable", hint: hintProgram},
	{magic: "\x00asm", sure: true, name: "WebAssembly module", mime: "application/wasm", hint: hintProgram},
	{magic: "!<arch>\n", name: "library or package (ar archive)", mime: "application/x-archive", hint: hintProgram},
	{magic: "PACK\x00\x00\x00", sure: true, name: "git pack", mime: "application/x-git-pack", hint: "git shows what is in it"},

	{at: 4, magic: "ftyp", name: "MP4 or QuickTime video or sound", mime: "video/mp4", hint: hintMedia},
	{magic: "\x1aE\xdf\xa3", sure: true, name: "Matroska or WebM video", mime: "video/webm", hint: hintMedia},
	{magic: "OggS\x00", sure: true, name: "Ogg sound or video", mime: "application/ogg", hint: hintMedia},
	{magic: "RIFF????WAVE", name: "WAVE sound", mime: "audio/wave", hint: hintMedia},
	{magic: "RIFF????AVI ", name: "AVI video", mime: "video/avi", hint: hintMedia},
	{magic: "fLaC\x00", sure: true, name: "FLAC sound", mime: "audio/flac", hint: hintMedia},
	{magic: "ID3", name: "MP3 sound", mime: "audio/mpeg", hint: hintMedia},
	{magic: "wOFF", name: "WOFF font", mime: "font/woff", hint: hintFont},
	{magic: "wOF2", name: "WOFF2 font", mime: "font/woff2", hint: hintFont},
	{magic: "\x00\x01\x00\x00", sure: true, name: "TrueType font", mime: "font/ttf", hint: hintFont},
	{magic: "OTTO\x00", sure: true, name: "OpenType font", mime: "font/otf", hint: hintFont},
}

// signatureOf finds the format that head begins like, nil for none.
func signatureOf(head []byte) *signature {
	for i := range signatures {
		s := &signatures[i]
		if !s.matches(head) {
			continue
		}
		// Java classes share their magic with Mach-O files for several processors.
		// What follows is a version, 45 or more, or the number of processors.
		if s.mime == mimeJava && len(head) >= 8 && binary.BigEndian.Uint32(head[4:])&0xffff < 45 {
			continue
		}
		return s
	}
	return nil
}

func (s *signature) matches(head []byte) bool {
	if len(head) < s.at+len(s.magic) {
		return false
	}
	for i := range len(s.magic) {
		if c := s.magic[i]; c != '?' && c != head[s.at+i] {
			return false
		}
	}
	return true
}

// isBinaryFormat reports whether head begins like a format that is no text even
// where it has no NUL near its start, as many a PDF.
func isBinaryFormat(head []byte) bool {
	s := signatureOf(head)
	return s != nil && s.sure
}
