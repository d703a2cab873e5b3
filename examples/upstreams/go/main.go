// INTERCEPT_ISSUER=https://api.example.com TARGET=orders go run main.go
//
// Verifies Intercept-Assertion with Go's standard library alone.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

type claims struct {
	Issuer       string `json:"iss"`
	Audience     string `json:"aud"`
	Key          string `json:"sub"`
	Organization string `json:"organization_slug"`
	IssuedAt     int64  `json:"iat"`
	ExpiresAt    int64  `json:"exp"`
}

type verifier struct {
	issuer, audience string
	mutex            sync.Mutex
	keys             map[string]*ecdsa.PublicKey
	fetchedAt        time.Time
}

// keyFor fetches the keys when it meets an unknown one, at most once a minute.
func (v *verifier) keyFor(kid string) (*ecdsa.PublicKey, error) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if key := v.keys[kid]; key != nil {
		return key, nil
	}
	if time.Since(v.fetchedAt) < time.Minute {
		return nil, errors.New("unknown key")
	}
	v.fetchedAt = time.Now()
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(v.issuer + "/.well-known/jwks.json")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var found struct {
		Keys []struct{ Kid, Kty, Crv, X, Y string }
	}
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil {
		return nil, err
	}
	v.keys = map[string]*ecdsa.PublicKey{}
	for _, jwk := range found.Keys {
		x, errX := base64.RawURLEncoding.DecodeString(jwk.X)
		y, errY := base64.RawURLEncoding.DecodeString(jwk.Y)
		if jwk.Crv != "P-256" || errX != nil || errY != nil {
			continue
		}
		key := &ecdsa.PublicKey{Curve: elliptic.P256(), X: new(big.Int).SetBytes(x), Y: new(big.Int).SetBytes(y)}
		if key.Curve.IsOnCurve(key.X, key.Y) {
			v.keys[jwk.Kid] = key
		}
	}
	if key := v.keys[kid]; key != nil {
		return key, nil
	}
	return nil, errors.New("unknown key")
}

func (v *verifier) verify(token string) (*claims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errors.New("no assertion")
	}
	var head struct{ Alg, Typ, Kid string }
	if err := decode(parts[0], &head); err != nil {
		return nil, err
	}
	if head.Alg != "ES256" || head.Typ != "intercept-assertion+jwt" {
		return nil, errors.New("not an assertion")
	}
	key, err := v.keyFor(head.Kid)
	if err != nil {
		return nil, err
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return nil, errors.New("no signature")
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if !ecdsa.Verify(key, digest[:], r, s) {
		return nil, errors.New("the signature does not hold")
	}
	var c claims
	if err := decode(parts[1], &c); err != nil {
		return nil, err
	}
	now := time.Now().Unix()
	if c.Issuer != v.issuer || c.Audience != v.audience {
		return nil, errors.New("made for somebody else")
	}
	if now > c.ExpiresAt+5 || now < c.IssuedAt-5 {
		return nil, errors.New("not valid now")
	}
	return &c, nil
}

func decode(part string, into any) error {
	bytes, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(bytes, into)
}

func main() {
	v := &verifier{issuer: os.Getenv("INTERCEPT_ISSUER"), audience: os.Getenv("TARGET")}
	http.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		caller, err := v.verify(r.Header.Get("Intercept-Assertion"))
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintln(w, `{"error":"Calls come through Intercept only."}`)
			return
		}
		json.NewEncoder(w).Encode(map[string]string{"organization": caller.Organization, "key": caller.Key})
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	fmt.Printf("listening at %d\n", listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, nil))
}
