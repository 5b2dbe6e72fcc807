import{C,Ne,Ye}from"/console/assets/main-m6h39pxw.js";var r=1e6;function st(o,u,f){let{input_mtok:t,output_mtok:e}=o??{};if(typeof t!=="number")return;let n=Ye(C(t),u,r);if(typeof e!=="number")return n;return Ne(n,Ye(C(e),f,r))}
export{st};
