package tools

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // so that image.Decode knows it
	_ "image/jpeg" // so that image.Decode knows it
	_ "image/png"  // so that image.Decode knows it
	"net/http"
	"strings"

	_ "golang.org/x/image/webp" // so that image.Decode knows it

	"github.com/loomd/loomd/diffpreview"
)

// kind is what bytes that are no text are, judged by their beginning and never
// by a name.
type kind struct {
	name          string // for a person, "" when only the type is known
	mime          string
	hint          string // what shows such a file, "" when that is not known
	width, height int    // of an image in pixels, 0 when they are not known
}

// identify looks at the head of a file. The dimensions of an image are found
// when they stand within it.
func identify(head []byte) kind {
	if enc := unmarkedUTF16(head); enc != "" {
		return kind{
			name: "UTF-16 without a byte order mark", mime: "text/plain; charset=" + string(enc),
			hint: "UTF-16 is read when the file begins with a byte order mark",
		}
	}
	k := kind{mime: http.DetectContentType(head)}
	if s := signatureOf(head); s != nil {
		k = kind{name: s.name, mime: s.mime, hint: s.hint}
	}
	if strings.HasPrefix(k.mime, "image/") {
		if config, _, err := image.DecodeConfig(bytes.NewReader(head)); err == nil {
			k.width, k.height = config.Width, config.Height
		}
	}
	return k
}

func (k kind) String() string {
	text := k.mime
	switch {
	case k.name != "":
		text = k.name + " (" + k.mime + ")"
	case k.mime == "application/octet-stream" || strings.HasPrefix(k.mime, "text/"):
		text = "binary data"
	}
	if k.width > 0 {
		text += fmt.Sprintf(", %d×%d pixels", k.width, k.height)
	}
	return text
}

// isImage reports whether read_file shows such a file as an image.
func (k kind) isImage() bool {
	switch k.mime {
	case mimePNG, mimeJPEG, mimeGIF, mimeWebP:
		return true
	}
	return false
}

func describeBinary(content []byte) string {
	return identify(content[:min(len(content), sniffImage)]).String()
}

// sniffImage is how much of a file is read to tell what it is. The dimensions of
// a JPEG can stand behind tens of kilobytes of camera data.
const sniffImage = 256 << 10

// unmarkedUTF16 recognises ASCII text in UTF-16 that lacks its mark: every other
// byte is NUL and the rest are not. "" means it is not that.
func unmarkedUTF16(head []byte) diffpreview.Encoding {
	head = head[:min(len(head), diffpreview.SniffLen)]
	if len(head) < 4 {
		return ""
	}
	var nul [2]int
	for i, c := range head {
		if c == 0 {
			nul[i%2]++
		}
	}
	half := len(head) / 2
	switch {
	case nul[0] == 0 && nul[1]*10 >= half*9:
		return diffpreview.UTF16LE
	case nul[1] == 0 && nul[0]*10 >= half*9:
		return diffpreview.UTF16BE
	}
	return ""
}
