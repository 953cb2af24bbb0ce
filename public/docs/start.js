window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  // The default sends the document's address to a service elsewhere.
  validatorUrl: null,
  // A token typed here stays in this tab.
  persistAuthorization: false,
});
