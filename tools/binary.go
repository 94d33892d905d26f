package tools

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // so that DecodeConfig knows it
	_ "image/jpeg" // so that DecodeConfig knows it
	_ "image/png"  // so that DecodeConfig knows it
	"net/http"
	"strings"

	_ "golang.org/x/image/webp" // so that DecodeConfig knows it

	"github.com/loomd/loomd/diffpreview"
)

// kind is what bytes that are no text are, judged by their beginning and never
// by a name.
type kind struct {
	mime          string
	width, height int // of an image, 0 when they are not known
}

// identify looks at the head of a file. The dimensions of an image are found
// when they stand within it.
func identify(head []byte) kind {
	if enc := unmarkedUTF16(head); enc != "" {
		return kind{mime: "text/plain; charset=" + string(enc)}
	}
	k := kind{mime: http.DetectContentType(head)}
	if strings.HasPrefix(k.mime, "image/") {
		if config, _, err := image.DecodeConfig(bytes.NewReader(head)); err == nil {
			k.width, k.height = config.Width, config.Height
		}
	}
	return k
}

func (k kind) String() string {
	switch {
	case k.mime == "application/octet-stream":
		return "binary data"
	case strings.HasPrefix(k.mime, "text/"):
		return "UTF-16 without a byte order mark (" + k.mime + ")"
	case k.width > 0:
		return fmt.Sprintf("%s, %d×%d pixels", k.mime, k.width, k.height)
	}
	return k.mime
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
