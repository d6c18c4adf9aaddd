package wire

// Which requests are a provider's: the path tells the dialect. Hosts and prefixes do not
// matter, since gateways and proxies have their own.

import (
	"net/http"
	"regexp"
	"strings"
)

// routes are the paths of endpoints that take a conversation.
var routes = []struct {
	path    *regexp.Regexp
	dialect string
}{
	{regexp.MustCompile(`/messages(/count_tokens)?$`), "anthropic"},
	{regexp.MustCompile(`/chat/completions$`), "chat"},
	{regexp.MustCompile(`/responses$`), "responses"},
	{regexp.MustCompile(`:(generateContent|streamGenerateContent|countTokens)$`), "gemini"},
	{regexp.MustCompile(`/model/[^/]+/converse(-stream)?$`), "converse"},
	// Others serve many models: the body has to be Anthropic's.
	{shared, "anthropic"},
}

// shared are the paths where a body may be in any format.
var shared = regexp.MustCompile(`/model/[^/]+/invoke(-with-response-stream)?$|:(rawPredict|streamRawPredict)$`)

// dialectOfPath returns the dialect that a request's body is in, if it goes to an endpoint
// that is known.
func dialectOfPath(r *http.Request) (dialect string, ok bool) {
	if r.Method != http.MethodPost || r.URL == nil {
		return "", false
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	for _, route := range routes {
		if route.path.MatchString(path) {
			return route.dialect, true
		}
	}
	return "", false
}

// mustDetect tells whether a path does not tell the format of its bodies.
func mustDetect(path string) bool { return shared.MatchString(strings.TrimSuffix(path, "/")) }

// signatures are headers that vouch for a body.
var signatures = []string{"X-Amz-Content-Sha256", "Content-Md5", "Content-Digest", "Digest", "Repr-Digest"}

// isSigned tells whether a request would be refused with another body.
func isSigned(h http.Header) bool {
	for _, name := range signatures {
		if h.Get(name) != "" {
			return true
		}
	}
	return strings.HasPrefix(h.Get("Authorization"), "AWS4-")
}
